import { processRegistry } from '../process/registry.js'
import { systemClock } from '../runtime/clock.js'
import type { Health } from './health-status.js'
import { HealthWatch } from './health-watch.js'
import type { LaneFigures } from './lane-figures.js'

const watch = new HealthWatch({ clock: systemClock, wallClock: Date.now })

/** The health of the process with these lanes. All callers share what has been seen. */
export function processHealth(lanes: readonly LaneFigures[]): Health {
  return watch.look(lanes, processRegistry().offReason?.())
}
