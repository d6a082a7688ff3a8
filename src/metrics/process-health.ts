import { systemClock } from '../runtime/clock.js'
import { HealthWatch } from './health-watch.js'

/** The health of the process. Calls of `health` and `prometheusText` share what they have seen. */
export const processHealth = new HealthWatch({ clock: systemClock, wallClock: Date.now })
