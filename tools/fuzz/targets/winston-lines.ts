import { equal } from 'node:assert/strict'
import { logHead } from '../../../src/records/encode.js'
import { WinstonBytes } from '../../../src/records/winston-bytes.js'
import { winstonLineMapper } from '../../../src/records/winston-line.js'
import { Input, seed } from '../input.js'
import { arrivedAt, checkRecord, encoder, mappingFrom, writtenBody } from '../record-writing.js'

export const seeds = [
  '{"level":"info","message":"hello"}',
  '{"level":"warn","message":"order \\"placed\\"\\nnow","orderId":7,"total":99.5,"paid":true,"coupon":null,"path":"C:\\\\temp"}',
  '{"level":"info","message":"m","timestamp":"2023-11-14T22:13:20.123Z","eventId":1001}',
  '{"level":"\\u001b[32minfo\\u001b[39m","message":"\\u001b[32mm\\u001b[39m"}',
  '{"level":"error","message":"m","stack":"Error: m\\n    at a","err":"a text","service":"shop"}',
  '{"message":"m","level":"info","a":{"b":[1,{"c":null}]},"token":"Bearer abcdefghij"}\n{"level":"info","message":"x"}',
].flatMap((line) => [seed([0, 1, 0, 0, 0], line), seed([0, 0, 1, 1, 1], line)])

const abouts = [
  { level: 'info', severity: 2, arrivedAt },
  { level: 'söme "level"', severity: 2, arrivedAt: arrivedAt + 1 },
  { level: 'x'.repeat(300), severity: 4, arrivedAt: 7 },
] as const

/** Each line gives the same record by its bytes as by its text, whatever came before it. */
export function fuzz(data: Buffer): void {
  const input = new Input(data)
  const mapping = mappingFrom(input)
  const about = input.pick(abouts)
  const map = winstonLineMapper(mapping)
  const bytes = new WinstonBytes(mapping, encoder.logTail)
  const writer = {
    most: (lineBytes: number) => bytes.most(lineBytes),
    write: (lines: Buffer, from: number, end: number, memory: Buffer, at: number) =>
      bytes.write(lines, from, end, memory, at, about),
  }
  for (const line of input.text().split('\n')) {
    const body = writtenBody(writer, Buffer.from(line))
    let expected: string
    try {
      expected = encoder.completeLog(logHead(map(line, about).fields))
    } catch (error) {
      if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error
      equal(body, undefined, 'a line has a record by its bytes only')
      continue
    }
    checkRecord(expected, mapping.maxMessageBytes)
    if (body !== undefined) equal(body, expected)
  }
}
