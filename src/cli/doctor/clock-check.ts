import { counted } from '../../errors/counted.js'
import { textOf } from '../../errors/text-of.js'
import type { AnswerHeaders } from '../../http/answer-collector.js'
import { maxBodyBytes } from '../../http/request-head.js'
import { UndiciPool } from '../../http/undici-pool.js'
import { systemLoop } from '../../runtime/loop.js'
import { userAgent } from '../../runtime/version.js'
import { inTime } from './deadline.js'
import { bad, type Finding, good, skipped } from './finding.js'
import type { CheckPlan } from './network-checks.js'

/** Beyond this, records appear at the wrong place among those of other machines. */
const maxSkewMs = 30_000
/** The header has no fractions of a second. */
const roundingMs = 1000

export interface ClockCheck {
  readonly finding: Finding
  /** True when the answer has a plain head, and the connection is kept. Undefined without an answer. */
  readonly isPlain: boolean | undefined
}

/** Check that the service answers, and compare its clock with this machine's. No key is sent. */
export async function checkClock(url: string, { route, ms }: CheckPlan): Promise<ClockCheck> {
  const { origin, pathname } = new URL(url)
  const plan = { origin, maxConnections: 1, requestTimeoutMs: ms, maxBodyBytes, loop: systemLoop }
  const pool = new UndiciPool({ ...plan, proxyUrl: route.proxyUrl })
  const startedAt = Date.now()
  const headers = { accept: 'application/json', 'user-agent': userAgent }
  const ask = () => pool.exchange({ method: 'GET', path: pathname, headers })
  const advice = 'check that SLUICE_URL is the base URL of the service'
  try {
    // Connecting and the answer have this time each.
    const asked = await inTime(ask, { ms: 2 * ms + 100 })
    if (asked.type === 'late') {
      return { finding: bad('answer', { text: `no answer within ${ms} ms`, advice }), isPlain: undefined }
    }
    const exchange = asked.result
    if (exchange.type === 'broken') {
      return { finding: bad('answer', { text: exchange.reason, advice }), isPlain: undefined }
    }
    const { answer, headers } = exchange
    const date = Date.parse(textOf(headers.date))
    return { finding: judge(date, { startedAt, endedAt: Date.now() }), isPlain: isPlain(answer.status, headers) }
  } finally {
    await pool.destroy()
  }
}

/** @param theirs the time of the header `date`; NaN without this header */
export function judge(theirs: number, { startedAt, endedAt }: { startedAt: number; endedAt: number }): Finding {
  if (Number.isNaN(theirs)) return skipped('clock', 'the service does not send its time')
  const ahead = startedAt - (theirs + roundingMs)
  const behind = theirs - endedAt
  const skewMs = Math.max(ahead, behind, 0)
  if (skewMs === 0) return good('clock', 'agrees with that of the service')
  const text = `${skewText(Math.ceil(skewMs / 1000))} ${ahead > 0 ? 'ahead of' : 'behind'} that of the service`
  const advice = 'set the clock that is wrong, such as with NTP: until then records have wrong times'
  return skewMs > maxSkewMs ? bad('clock', { text, advice }) : good('clock', text)
}

function skewText(seconds: number): string {
  if (seconds < 120) return `${seconds} s`
  if (seconds < 7200) return `${Math.round(seconds / 60)} minutes`
  return seconds < 86_400 ? `${Math.round(seconds / 3600)} hours` : counted(Math.round(seconds / 86_400), 'day')
}

/** True when the connection is kept, and the end of the answer follows from a plain head: a length, chunks or no body. */
function isPlain(status: number, headers: AnswerHeaders): boolean {
  const { connection, 'content-length': length, 'transfer-encoding': coding } = headers
  const closes = [connection ?? []].flat().some((value) => /(^|,)\s*close\s*(,|$)/i.test(value))
  const counted = coding === undefined && typeof length === 'string' && /^\d+$/.test(length)
  const chunked = length === undefined && typeof coding === 'string' && coding.toLowerCase() === 'chunked'
  const bodiless = status === 204 && coding === undefined
  return !closes && (counted || chunked || bodiless)
}
