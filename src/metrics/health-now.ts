import type { Ledger } from '../delivery/ledger.js'
import { processRegistry } from '../process/registry.js'
import { systemClock } from '../runtime/clock.js'
import type { Health } from './health-status.js'
import { HealthWatch } from './health-watch.js'
import { type LaneFigures, laneFigures } from './lane-figures.js'

const watch = new HealthWatch({ clock: systemClock, wallClock: Date.now })

/** One look at the whole process: the health, and the figures that it was judged by. */
export interface HealthNow {
  readonly health: Health
  readonly ledger: Ledger
  readonly lanes: readonly LaneFigures[]
}

/** Looks at the process now. All callers share what has been seen, so that no two of them can differ. */
export function healthNow(): HealthNow {
  const registry = processRegistry()
  const ledger = registry.stats()
  const lanes = laneFigures(ledger)
  const health = { ...watch.look(lanes, registry.offReason?.()), capacity: registry.capacity?.() }
  return { health, ledger, lanes }
}
