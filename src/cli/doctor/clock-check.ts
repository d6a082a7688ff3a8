import { textOf } from '../../errors/text-of.js'
import { maxBodyBytes } from '../../http/request-head.js'
import { UndiciPool } from '../../http/undici-pool.js'
import { type Sighting, sightingOf } from '../../http/undici-sender.js'
import { systemClock } from '../../runtime/clock.js'
import { userAgent } from '../../runtime/version.js'
import { inTime } from './deadline.js'
import { bad, type Finding, good, skipped } from './finding.js'
import type { NetworkPlan } from './network-checks.js'

/** Beyond this records stand at the wrong place among those of other machines. */
const maxSkewMs = 30_000
/** The header has whole seconds. */
const roundingMs = 1000

/** What a question without a key shows of a service. */
export interface Greeting {
  readonly finding: Finding
  /** Undefined when nothing answered. */
  readonly sighting: Sighting | undefined
}

/** Whether the service answers, and what its clock says. No key is sent. */
export async function greet(url: string, { way, ms }: NetworkPlan): Promise<Greeting> {
  const { origin, pathname } = new URL(url)
  const plan = { origin, maxConnections: 1, requestTimeoutMs: ms, maxBodyBytes, clock: systemClock }
  const pool = new UndiciPool({ ...plan, proxyUrl: way.proxyUrl })
  const startedAt = Date.now()
  const headers = { accept: 'application/json', 'user-agent': userAgent }
  const ask = () => pool.exchange({ method: 'GET', path: pathname, headers })
  const advice = 'is this the base URL of the service? See SLUICE_URL'
  try {
    // Connecting and asking have a time of their own each.
    const asked = await inTime(ask, { ms: 2 * ms + 100 })
    if (asked.type === 'late') return { finding: bad('answer', { text: 'none in time', advice }), sighting: undefined }
    const exchange = asked.result
    if (exchange.type === 'broken') {
      return { finding: bad('answer', { text: exchange.reason, advice }), sighting: undefined }
    }
    const { answer, headers } = exchange
    const date = Date.parse(textOf(headers.date))
    const sighting = sightingOf({ status: answer.status, headers }, '')
    return { finding: judge(date, { startedAt, endedAt: Date.now() }), sighting }
  } finally {
    await pool.destroy()
  }
}

/** @param theirs what the header `date` says; NaN when there is none */
export function judge(theirs: number, { startedAt, endedAt }: { startedAt: number; endedAt: number }): Finding {
  if (Number.isNaN(theirs)) return skipped('clock', 'the service does not say what time it has')
  const ahead = startedAt - (theirs + roundingMs)
  const behind = theirs - endedAt
  const skewMs = Math.max(ahead, behind, 0)
  if (skewMs === 0) return good('clock', 'agrees with that of the service')
  const text = `${Math.ceil(skewMs / 1000)} s ${ahead > 0 ? 'ahead of' : 'behind'} that of the service`
  const advice = 'set the clock of the machine that is wrong: NTP'
  return skewMs > maxSkewMs ? bad('clock', { text, advice }) : good('clock', text)
}
