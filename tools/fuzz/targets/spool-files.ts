import { deepStrictEqual, ok } from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gone, Segment } from '../../../src/log/segment.js'
import { nodeFiles } from '../../../src/runtime/files.js'
import { acknowledgementsOf } from '../../../src/spool/acknowledgements.js'
import { lineMiddle, spoolLine, withChecksum } from '../../../src/spool/spool-line.js'
import { SpooledSegment } from '../../../src/spool/spooled-segment.js'
import { loadAll, NotedLog } from '../../../test/support/noted-log.js'
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
  seed([3, 0, 0], `"key":"\\u0078","n":7,"time":5${middle},"record":{"message":"other"}}`),
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

/** A file as an engine finds it: the numbers of its records, and each with its key before it, as it is read when it is sent. */
function recovered(): { readonly numbers: readonly number[]; readonly texts: readonly (string | undefined)[] } {
  const segment = new Segment(new NotedLog())
  const file = new SpooledSegment({
    segment,
    adopted: true,
    files: nodeFiles,
    settled: () => {},
    empty: () => {},
    failedToRead: (error) => {
      throw error
    },
  })
  segment.file = file
  const { damaged } = file.recover(path, { belongs: ({ bucket }) => bucket === 'b', above: 0 })
  ok(damaged >= 0)
  const numbers = [...segment.states.subarray(0, segment.count).keys()].filter(
    (number) => segment.states[number] !== gone,
  )
  return { numbers, texts: loadAll(segment) }
}

/** A file that was torn or changed, or whose acknowledgements were, gives records that were written, and none twice. */
export function fuzz(data: Buffer): void {
  const input = new Input(data)
  const what = input.below(4)
  const at = (input.below(256) * 3) % file.length
  const removed = input.below(256)
  const rest = input.rest()
  const text = rest.toString('latin1')
  let changed = file
  let acknowledged = Buffer.alloc(0)
  if (what === 0) changed = Buffer.concat([file.subarray(0, at), rest, file.subarray(at + removed)])
  else if (what === 1) acknowledged = Buffer.from(withChecksum(`"settled":"${text}"}`))
  else if (what === 2) acknowledged = Buffer.from(rest)
  else changed = Buffer.concat([file, Buffer.from(withChecksum(rest.toString('utf8'))), Buffer.from('\n')])
  writeFileSync(path, changed)
  writeFileSync(acknowledgementsOf(path), acknowledged)
  const { numbers, texts } = recovered()
  for (const [index, number] of numbers.entries()) {
    const found = texts[index]
    const isWritten = found === `k-${number}${bodies[number]}`
    // What Sluice has not written is lost at the latest when it is read to be sent, or is a record with a key and a body.
    const isForeign = what === 3 || text.includes('{"crc":')
    ok(isWritten || (isForeign && (found === undefined || /^[\x21-\x7e]+\{/.test(found))), `another record: ${found}`)
  }
  // A text may have whole lines of its own.
  if (what !== 1 || text.includes('{"crc":')) return
  const settled = settledBy(text)
  deepStrictEqual(
    numbers,
    [0, 1, 2, 3].filter((number) => !settled.has(number)),
  )
}
