import { publishMainScript } from '../options/identity.js'
import { shareState } from '../runtime/shared-state.js'
import { processRegistry } from './registry.js'

/** Get ready to see pino's workers start, and the end of the process; called when `sluice` is imported, and by `sluicePino()`. */
export function installProcessHooks(): void {
  publishMainScript()
  shareState()
  processRegistry().watchEnd()
}
