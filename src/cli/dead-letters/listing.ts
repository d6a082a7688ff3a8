import type { LaneName } from '../../delivery/ledger.js'
import { counted } from '../../errors/counted.js'
import type { Summary } from '../output.js'
import type { Letter, Letters } from './letters.js'

/** Dead letters with one reason and of one lane. */
interface LaneGroup extends LaneName {
  count: number
  /** The numbers of the letters, ascending. */
  readonly numbers: number[]
}

/** Dead letters with one reason. */
interface ReasonGroup {
  readonly reason: string
  count: number
  readonly lanes: LaneGroup[]
}

/** Reasons may quote the record, so the number of those that are printed as text is bounded. */
const maxReasons = 20
/** Ranges of numbers that are printed as text for one reason and lane. */
const maxRanges = 10

/** The result of a listing. */
export function listingOf({ letters, damaged }: Letters): Summary {
  const reasons = groupsOf(letters)
  return {
    ok: damaged === 0,
    facts: { records: letters.length, reasons, damaged },
    lines: [
      letters.length === 0 ? noLetters : `${counted(letters.length, 'dead letter')}:`,
      ...reasons.slice(0, maxReasons).flatMap(linesOf),
      reasons.length > maxReasons && `  and ${reasons.length - maxReasons} more reasons; --json lists all`,
      damaged > 0 && `damaged lines: ${damaged}`,
    ],
  }
}

/** The message about a folder without dead letters. */
export const noLetters = 'there are no dead letters in this folder'

/** The most frequent reason comes first. */
function groupsOf(letters: readonly Letter[]): ReasonGroup[] {
  const groups = new Map<string, ReasonGroup>()
  for (const { refusal, kind, bucket, number } of letters) {
    const { reason } = refusal
    const group = groups.get(reason) ?? { reason, count: 0, lanes: [] }
    groups.set(reason, group)
    group.count++
    let lane = group.lanes.find((each) => each.kind === kind && each.bucket === bucket)
    if (lane === undefined) {
      lane = { kind, bucket, count: 0, numbers: [] }
      group.lanes.push(lane)
    }
    lane.count++
    lane.numbers.push(number)
  }
  return [...groups.values()].sort((a, b) => b.count - a.count)
}

function linesOf({ reason, count, lanes }: ReasonGroup): string[] {
  return [
    `  ${count} × ${reason}`,
    ...lanes.map(
      ({ kind, bucket, count, numbers }) => `    ${count} ${kind} of bucket ${bucket}: ${rangesOf(numbers)}`,
    ),
  ]
}

/** Ascending numbers as text, such as `1-3, 5`. */
function rangesOf(numbers: readonly number[]): string {
  const ranges: [from: number, to: number][] = []
  for (const number of numbers) {
    const last = ranges.at(-1)
    if (last?.[1] === number - 1) last[1] = number
    else ranges.push([number, number])
  }
  const shown = ranges.slice(0, maxRanges).map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`))
  return [...shown, ...(ranges.length > maxRanges ? ['…'] : [])].join(', ')
}
