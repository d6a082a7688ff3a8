import { expect } from 'vitest'
import { RecordEncoder } from '../../src/records/encode.js'

/** An encoder whose fields need escapes and more than one byte for a character. */
export const encoder = new RecordEncoder({
  appName: 'shop → "a"',
  machineName: 'h',
  env: 'test',
  runtimeVersion: 'v20',
  runtime: 1,
})

interface LineWriter {
  most(lineBytes: number): number
  write(lines: Buffer, from: number, end: number, memory: Buffer, at: number): number
}

const untouched = 0xaa
const margin = Buffer.alloc(64, untouched)

/**
 * The body that is written for the line at a position; undefined for -1. No byte outside of the room for it may change.
 *
 * @param end end of the bytes that the writer may read
 */
export function writtenBody(writer: LineWriter, lines: Buffer, from: number, end = lines.length): string | undefined {
  const at = from % 7
  const room = at + writer.most(end - from)
  const memory = Buffer.alloc(room + margin.length, untouched)
  const to = writer.write(lines, from, end, memory, at)
  expect(memory.subarray(0, at).equals(margin.subarray(0, at))).toBe(true)
  expect(memory.subarray(room).equals(margin)).toBe(true)
  return to === -1 ? undefined : memory.toString('utf8', at, to)
}

/** The lines of a text up to an end, each as its start and end in the bytes of the text. */
export function linesOf(bytes: Buffer, stop: number): [number, number][] {
  const lines: [number, number][] = []
  for (let from = 0; from <= stop; ) {
    const lineFeed = bytes.indexOf('\n', from)
    const end = lineFeed === -1 || lineFeed > stop ? stop : lineFeed
    lines.push([from, end])
    from = end + 1
  }
  return lines
}

/** A position within the bytes of a text, between characters; their end without a position. */
export function cutOf(text: string, position: number | null): number {
  return Buffer.byteLength(position === null ? text : text.slice(0, position).toWellFormed())
}
