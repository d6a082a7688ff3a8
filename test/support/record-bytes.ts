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

/** The body that is written for the line at a position; undefined for -1. No byte outside of the room for it may change. */
export function writtenBody(writer: LineWriter, lines: Buffer, from: number): string | undefined {
  const at = from % 7
  const room = at + writer.most(lines.length - from)
  const memory = Buffer.alloc(room + margin.length, untouched)
  const to = writer.write(lines, from, lines.length, memory, at)
  expect(memory.subarray(0, at).equals(margin.subarray(0, at))).toBe(true)
  expect(memory.subarray(room).equals(margin)).toBe(true)
  return to === -1 ? undefined : memory.toString('utf8', at, to)
}

/** The lines of a text, each as its start and end in the bytes of the text. */
export function linesOf(text: string): { readonly bytes: Buffer; readonly lines: readonly [number, number][] } {
  const bytes = Buffer.from(text)
  const lines: [number, number][] = []
  for (let from = 0; from <= bytes.length; ) {
    const lineFeed = bytes.indexOf('\n', from)
    const end = lineFeed === -1 ? bytes.length : lineFeed
    lines.push([from, end])
    from = end + 1
  }
  return { bytes, lines }
}
