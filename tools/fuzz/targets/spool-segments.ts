import { deepStrictEqual, ok } from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nodeFiles } from '../../../src/runtime/files.js'
import { acknowledgementsOf } from '../../../src/spool/acknowledgements.js'
import { RecordFile } from '../../../src/spool/record-file.js'
import { lineMiddle, readSpoolLine, type SpoolLine, spoolLine, withChecksum } from '../../../src/spool/spool-line.js'
import { Input, seed } from '../input.js'

const bodies = ['{"message":"zero"}', '{"message":"öne"}', '{"message":"two"}', '{"message":"three"}']
const middle = lineMiddle({ kind: 'logs', bucket: 'b', severity: 2 })
const lines = bodies.map((body, number) =>
  spoolLine({ number, idempotencyKey: `k-${number}`, time: 1, body }, { middle }),
)
const file = Buffer.from(`${lines.join('\n')}\n`)

export const seeds = [
  seed([0, 0, 0], ''),
  seed([0, 40, 9], lines[1]!.slice(0, 60)),
  seed([1, 0, 0], '0,2'),
  seed([1, 0, 0], '1-2'),
  seed([1, 0, 0], '3-1,-5,9999999999999999,0-0'),
  seed([2, 0, 0], `${withChecksum('"settled":"0-1"}')}\n${withChecksum('"settled":"3"}').slice(0, 30)}`),
  seed([3, 0, 0], `"n":7,"key":"x","time":5${middle},"record":{"message":"other"}}`),
]

const path = join(mkdtempSync(join(tmpdir(), 'sluice-fuzz-')), 'info-000001.ndjson')

/** The numbers that this text of acknowledgements settles, of the four records. */
function settledBy(text: string): Set<number> {
  const settled = new Set<number>()
  if (!/^[\d,-]+$/.test(text)) return settled
  for (const range of text.split(',')) {
    const [, from, to = from] = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(range) ?? []
    for (let number = 0; from !== undefined && number < bodies.length; number++) {
      if (number >= Number(from) && number <= Number(to)) settled.add(number)
    }
  }
  return settled
}

/** The line of a record, read again from its place. */
function lineAt(recovered: RecordFile, number: number): SpoolLine | undefined {
  const bytes = Buffer.alloc(recovered.endOf(number) - recovered.startOf(number))
  ok(recovered.read(recovered.startOf(number), bytes), 'the file is gone')
  return readSpoolLine(bytes)
}

/** A segment that was torn or changed, or whose acknowledgements were, gives records that were written, and none twice. */
export function fuzz(data: Buffer): void {
  const input = new Input(data)
  const what = input.below(4)
  const at = (input.below(256) * 3) % file.length
  const removed = input.below(256)
  const rest = input.rest()
  const text = rest.toString('latin1')
  let segment = file
  let acknowledged = Buffer.alloc(0)
  if (what === 0) segment = Buffer.concat([file.subarray(0, at), rest, file.subarray(at + removed)])
  else if (what === 1) acknowledged = Buffer.from(withChecksum(`"settled":"${text}"}`))
  else if (what === 2) acknowledged = Buffer.from(rest)
  else segment = Buffer.concat([file, Buffer.from(withChecksum(rest.toString('utf8'))), Buffer.from('\n')])
  writeFileSync(path, segment)
  writeFileSync(acknowledgementsOf(path), acknowledged)
  const recovered = new RecordFile(path, { from: 0, files: nodeFiles })
  const { lines: found, damaged } = recovered.recover(({ bucket }) => bucket === 'b')
  ok(damaged >= 0)
  ok(
    found.every(({ line }, index) => index === 0 || line.number > found[index - 1]!.line.number),
    'records are not in order',
  )
  for (const { line } of found) {
    deepStrictEqual(lineAt(recovered, line.number), line, 'a record that was found cannot be read')
    ok(
      what === 3 || line.body === bodies[line.number] || text.includes(line.idempotencyKey),
      `another record: ${line.body}`,
    )
  }
  // A text may have whole lines of its own.
  if (what !== 1 || text.includes('{"crc":')) return
  const settled = settledBy(text)
  deepStrictEqual(
    found.map(({ line }) => line.number),
    [0, 1, 2, 3].filter((number) => !settled.has(number)),
  )
}
