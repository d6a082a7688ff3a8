import type { Summary } from '../ending.js'
import { rejectionLines, rejectionList } from '../rejections.js'
import type { RecordsToSend } from './records-to-send.js'
import type { ReplayAccount } from './replay-store.js'

/** What a replay came to. */
export function replaySummary(
  { delivered, rejected }: ReplayAccount,
  { records, stopped }: { readonly records: RecordsToSend; readonly stopped: string | undefined },
): Summary {
  const refused = [...rejected.values()].reduce((sum, count) => sum + count, 0)
  const left = records.records - delivered - refused
  const { damaged } = records
  return {
    ok: delivered === records.records && damaged === 0,
    facts: {
      records: records.records,
      delivered,
      rejected: refused,
      rejections: rejectionList(rejected),
      left,
      damaged,
      stopped: stopped ?? null,
    },
    lines: [
      `${delivered} of ${records.records} records delivered${noneThere(records)}`,
      ...(refused === 0 ? [] : [`${refused} rejected, still there:`]),
      ...rejectionLines(rejected),
      ...(left === 0 ? [] : [`${left} not delivered, still there`]),
      ...damagedLines(records),
      ...(stopped === undefined ? [] : [`stopped: ${stopped}`]),
      ...(left === 0 ? [] : ['to go on, give the same command again']),
    ],
  }
}

function noneThere({ records, damaged }: RecordsToSend): string {
  return records + damaged === 0 ? ': there are none in this folder' : ''
}

/** What there is to be sent. */
export function checkedSummary(records: RecordsToSend): Summary {
  const lanes = records.lanes.map(({ kind, bucket }, lane) => ({ kind, bucket, records: records.counts[lane] }))
  const lines = lanes.map(({ kind, bucket, records }) => `  ${records} ${kind} of bucket ${bucket}`)
  const { damaged } = records
  return {
    ok: damaged === 0,
    facts: { records: records.records, lanes, damaged },
    lines: [`${records.records} records${noneThere(records)}; nothing was sent`, ...lines, ...damagedLines(records)],
  }
}

function damagedLines({ damaged }: RecordsToSend): string[] {
  return damaged === 0 ? [] : [`${damaged} damaged lines are kept in files of the name FILE.damaged`]
}
