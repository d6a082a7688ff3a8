import { deepStrictEqual, ok } from 'node:assert/strict'
import { type Severity, valueSeverity } from '../../../src/records/level.js'
import { isPathSegment } from '../../../src/records/wire.js'
import { scanLines } from '../../../src/spool/line-scanner.js'
import { lineMiddle, readSpoolLine, spoolLine, withChecksum } from '../../../src/spool/spool-line.js'
import { Input, seed } from '../input.js'

const rest = '"n":1,"key":"k","time":1,"kind":"logs","bucket":"b","severity":2,"record":{"message":"m"}}'

export const seeds = [
  seed([0, 3, 2], '{"message":"hello"}'),
  seed([0, 3, 6], 'bücket {"a":{"record":{}},",\\"record\\":":1}'),
  seed([1, 5, 9], withChecksum(rest)),
  seed([1, 5, 9], `${withChecksum(rest)}\n${withChecksum(rest)}`),
  seed([2, 40, 0, 1], '\n'),
  seed([2, 140, 2, 7], withChecksum(rest)),
  seed([3], rest),
  seed(
    [3],
    rest.replace(',"record"', ',"refusal":{"status":400,"reason":"r","validationErrors":[],"rejectedAt":1},"record"'),
  ),
  seed([3], rest.replace('"k"', '"k\\r\\nx: y"')),
]

const bodies = [
  '{"message":"first"}',
  '{"message":"sécond ,\\"record\\":{}"}',
  '{"eventId":1}',
  '{"message":"{\\"crc\\":\\""}',
]
const own = bodies.map((body, number) =>
  spoolLine(
    { number, idempotencyKey: `k-${number}`, time: 1_700_000_000_000, body },
    {
      middle: lineMiddle({
        kind: number === 2 ? 'values' : 'logs',
        bucket: 'bücket',
        severity: number === 2 ? valueSeverity : 2,
      }),
    },
  ),
)
const file = Buffer.from(`${own.join('\n')}\n`)
const ours = new Set(own)

/** The texts of all whole lines of a file. */
function linesIn(bytes: Buffer): string[] {
  const { lines } = scanLines(bytes, (line) =>
    readSpoolLine(line) === undefined ? undefined : line.toString('latin1'),
  )
  for (const { start, length, line } of lines) {
    ok(bytes.toString('latin1', start, start + length) === line, 'a line stands at another place')
  }
  return lines.map(({ line }) => line)
}

/** A record that was written is read. */
function roundTrip(input: Input): void {
  const severity = input.below(valueSeverity + 1) as Severity
  const bucketLength = input.below(12)
  const text = input.text()
  const written = {
    number: 7,
    idempotencyKey: 'k',
    time: 1,
    kind: severity === valueSeverity ? ('values' as const) : ('logs' as const),
    bucket: text.slice(0, bucketLength).toWellFormed(),
    severity,
    refusal: undefined,
    body: JSON.stringify({ message: text.slice(bucketLength) }).toWellFormed(),
  }
  if (!isPathSegment(written.bucket)) return
  const line = spoolLine(written, { middle: lineMiddle(written) })
  ok(!/[\n\r]/.test(line), 'a line has a line end')
  deepStrictEqual(readSpoolLine(Buffer.from(line)), written)
}

/** The length of a marker and a checksum: an input that has them brings a line of its own. */
const restAt = 16

/** Damage at one place of a file never makes a record that was not written. */
function damaged(input: Input): void {
  const at = (input.below(256) * 3) % file.length
  const removed = input.below(64)
  const bytes = Buffer.concat([file.subarray(0, at), input.rest(), file.subarray(at + removed)])
  for (const line of linesIn(bytes)) {
    const written = Buffer.from(line, 'latin1').toString('utf8')
    ok(
      ours.has(written) || input.rest().includes(line.slice(0, restAt), 0, 'latin1'),
      `a line was made of damage: ${written}`,
    )
  }
}

/** A line with a right checksum and any content is nothing, or a record that is safe to send. */
function hostile(input: Input): void {
  const read = readSpoolLine(Buffer.from(withChecksum(input.text())))
  if (read === undefined) return
  ok(/^[\x21-\x7e]+$/.test(read.idempotencyKey), 'the key is no header')
  ok(isPathSegment(read.bucket), 'the bucket is no part of a path')
  ok(typeof JSON.parse(read.body) === 'object', 'the body is no object')
  ok(!/[\r\n]/.test(encodeURIComponent(read.bucket)))
}

export function fuzz(data: Buffer): void {
  const input = new Input(data)
  const what = input.below(4)
  if (what === 0) roundTrip(input)
  else if (what === 1) linesIn(input.rest())
  else if (what === 2) damaged(input)
  else hostile(input)
}
