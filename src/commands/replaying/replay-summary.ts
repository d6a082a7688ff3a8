import type { RecordsToSend } from './records-to-send.js'
import type { ReplayAccount } from './replay-store.js'

/** What a replay came to, for a person. */
export function replaySummary(
  { delivered, rejected }: ReplayAccount,
  { records, stopped }: { readonly records: RecordsToSend; readonly stopped: string | undefined },
): string {
  const refused = [...rejected.values()].reduce((sum, count) => sum + count, 0)
  const left = records.records - delivered - refused
  return [
    `${delivered} of ${records.records} records delivered\n`,
    ...(refused === 0 ? [] : [`${refused} rejected, still there:\n`]),
    ...[...rejected].map(([reason, count]) => `  ${count} × ${reason}\n`),
    ...(left === 0 ? [] : [`${left} not delivered, still there\n`]),
    ...damagedLines(records),
    ...(stopped === undefined ? [] : [`stopped: ${stopped}\n`]),
    ...(left === 0 ? [] : ['to go on, give the same command again\n']),
  ].join('')
}

/** What there is to be sent. */
export function checkedSummary(records: RecordsToSend): string {
  const lanes = records.lanes.map(({ kind, bucket }, lane) => `  ${records.counts[lane]} ${kind} of bucket ${bucket}\n`)
  return [`${records.records} records; nothing was sent\n`, ...lanes, ...damagedLines(records)].join('')
}

function damagedLines({ damaged }: RecordsToSend): string[] {
  return damaged === 0 ? [] : [`${damaged} damaged lines are kept in files of the name FILE.damaged\n`]
}
