import {
  byReason,
  dropReasons,
  type LaneName,
  type LaneReport,
  type LaneState,
  type PlainCount,
  plainCounts,
  suppressReasons,
} from './ledger.js'
import { senderNames } from './sender.js'

/** States by their number in a row. */
export const states: readonly LaneState[] = ['open', 'outage', 'paused', 'closed']
const rowFields = [
  ...plainCounts,
  ...dropReasons,
  ...suppressReasons,
  'taken',
  'onDisk',
  'orphaned',
  'state',
  'connections',
  'depth',
  'sender',
  'errorLength',
] as const
/** Place of each number in a row. */
export const column = Object.fromEntries(rowFields.map((name, index) => [name, index])) as Record<
  (typeof rowFields)[number],
  number
>

/** Numbers in the row of a lane. */
export const rowLength = rowFields.length

/** The report of a lane. @param error memory with the text of its last error */
export function reportOf(name: LaneName, row: Float64Array, error: Uint8Array): LaneReport {
  const counts = Object.fromEntries(plainCounts.map((count) => [count, row[column[count]]!]))
  const text = error.slice(0, row[column.errorLength])
  return {
    ...name,
    ...(counts as Record<PlainCount, number>),
    dropped: byReason(dropReasons, (reason) => row[column[reason]]!),
    suppressed: byReason(suppressReasons, (reason) => row[column[reason]]!),
    state: states[row[column.state]!]!,
    connections: row[column.connections]!,
    depth: row[column.depth]!,
    sender: senderNames[row[column.sender]!]!,
    lastError: text.length === 0 ? undefined : new TextDecoder().decode(text),
  }
}
