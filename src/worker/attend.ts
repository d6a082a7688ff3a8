import { publishMainScript } from '../options/identity.js'
import { shareSaidFlags } from './once.js'
import { shareEnd } from './process-end.js'
import { processRegistry } from './process-registry.js'
import { shareTold } from './told-lately.js'

/** Get ready to see pino's workers start, and the end of the process; called when `sluice` is imported, and by `sluicePino()`. */
export function attendProcess(): void {
  publishMainScript()
  shareSaidFlags()
  shareEnd()
  shareTold()
  processRegistry().watchEnd()
}
