import { type LaneReport, sumLedger } from '../delivery/ledger.js'
import { noAnswer } from '../delivery/rules.js'
import { lastErrorText } from '../diagnostics/stderr.js'
import { counted } from '../errors/counted.js'

/** The line on the records that are left at the end of a process. `ambiguousBefore`: requests that had no answer when the end began. */
export function undeliveredLine({
  count,
  lanes,
  ambiguousBefore,
}: {
  readonly count: number
  readonly lanes: readonly LaneReport[]
  readonly ambiguousBefore: number
}): string {
  // Where the last connection was refused, the next one has taken nothing.
  const { inFlight } = sumLedger(
    lanes.filter(({ lastError }) => !lastError?.includes('ECONNREFUSED')),
    0,
  )
  const { ambiguousRetries } = sumLedger(lanes, 0)
  const unanswered = Math.min(count, inFlight + ambiguousRetries - ambiguousBefore)
  const fate = unanswered > 0 ? `; up to ${unanswered} of them may have arrived` : ''
  const text = `${counted(count, 'record')} not delivered before the end of the process`
  return `${text}${lastErrorText(lastErrorOf(lanes))}${fate}`
}

/** The error that most of the records left met with. */
function lastErrorOf(lanes: readonly LaneReport[]): string | undefined {
  const counts = new Map<string, number>()
  for (const { queued, inFlight, dropped, lastError = inFlight > 0 ? noAnswer : undefined } of lanes) {
    if (lastError === undefined) continue
    counts.set(lastError, (counts.get(lastError) ?? 0) + queued + inFlight + dropped.shutdown)
  }
  return [...counts].sort(([, a], [, b]) => b - a).find(([, count]) => count > 0)?.[0]
}
