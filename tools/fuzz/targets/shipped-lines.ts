import { deepStrictEqual, equal, ok } from 'node:assert/strict'
import { LineSplitter, textOfLine } from '../../../packages/tools/src/line-splitter.js'
import { LineMapper } from '../../../packages/tools/src/ship/line-mapper.js'
import { LineIntake } from '../../../src/loggers/line-intake.js'
import { Input, piecesOf, seed } from '../input.js'
import { arrivedAt, checkRecord, encoder, mappingFrom } from '../record-writing.js'

export const seeds = [
  '{"level":30,"time":1700000000000,"pid":1,"hostname":"h","msg":"hello"}\nplain text\n',
  '\ufeff{"level":"info","message":"m","timestamp":"2024-05-01 12:00:00,123"}\r\n',
  '{"level":"\\u001b[31merror\\u001b[39m","message":"m","stack":"s","eventId":7}\n\n\nlast',
  '{"msg":"m","__proto__":{"a":1},"err":{"message":"e","stack":["a","b"]}}\n[1]\nnull\n{"level":1e400,"msg":7}',
  '{"level":"info","message":{"a":[1,2]},"timestamp":1e99}',
].map((text) => seed([0, 0, 0, 0, 5, 40], text))

function split(pieces: readonly Buffer[]): { text: string; ended: boolean; size: number }[] {
  const splitter = new LineSplitter()
  const lines = pieces.flatMap((piece) => [...splitter.push(piece)])
  const last = splitter.end()
  return [...lines, ...(last === undefined ? [] : [last])].map((line) => ({
    text: textOfLine(line),
    ended: line.ended,
    size: line.size,
  }))
}

/** The lines of the stream of pino's target. */
function linesOfTarget(pieces: readonly Buffer[]): string[] {
  const found: string[] = []
  const intake = new LineIntake({ take: (line) => found.push(line), close: async () => {}, isRoomy: () => true })
  // A stream would take the last line after this call.
  for (const piece of pieces) intake._write(piece, 'utf8', () => {})
  intake._final(() => {})
  return found
}

export function fuzz(data: Buffer): void {
  const input = new Input(data)
  const mapping = mappingFrom(input)
  const sizes = [1 + input.below(16), 1 + input.below(256)]
  const bytes = input.rest()
  const lines = split([bytes])
  deepStrictEqual(split(piecesOf(bytes, sizes)), lines)
  equal(
    lines.reduce((sum, { size }) => sum + size, 0),
    bytes.length,
  )
  const texts = bytes.toString('utf8').split('\n')
  const ends = texts.length - 1
  if (texts.at(-1) === '') texts.pop()
  const ended = texts.map((text, index) => (index < ends && text.endsWith('\r') ? text.slice(0, -1) : text))
  deepStrictEqual(linesOfTarget(piecesOf(bytes, sizes)), ended)
  const mapper = new LineMapper({ ...mapping, machineName: 'h' })
  for (const { text } of lines) {
    const { fields, severity } = mapper.map(text, arrivedAt)
    ok(Number.isInteger(severity) && severity >= 0 && severity <= 5, `the severity is ${severity}`)
    checkRecord(encoder.log(fields), mapping.maxMessageBytes)
  }
}
