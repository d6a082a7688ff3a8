import { publishMainScript } from '../options/identity.js'
import { sharedLevel } from '../runtime/shared-level.js'
import { shareReach } from '../runtime/shared-reach.js'
import { shareState } from '../runtime/shared-state.js'
import { processRegistry } from './registry.js'

/** Watch for pino's workers and for the end of the process. Called at the import of `sluice`, and by `sluicePino()`. Idempotent. */
export function installProcessHooks(): void {
  publishMainScript()
  shareState()
  sharedLevel()
  shareReach()
  processRegistry().watchEnd()
}
