import { healthNow } from './health-now.js'
import type { Health } from './health-status.js'

/**
 * How the delivery of the whole process is, pino's workers included, for readiness pages.
 *
 * - `failing`: a lane is paused, so that a person must correct the key, the bucket or the plan; or Sluice is off because a variable is wrong,
 *   or some of those that it needs are missing; or within the last 30 s records were dropped for want of room (`queue-full`,
 *   `hand-off-full`, `spool-full`)
 * - `degraded`: a lane is in an outage; or within the last 5 min records were dropped for any reason
 * - `ok`: anything else, also a Sluice that is off because nothing is configured
 *
 * A loss counts from the first call that sees it, so call it regularly. Each call reads the ledger once and sets no timer. Never throws.
 */
export function health(): Health {
  return healthNow().health
}
