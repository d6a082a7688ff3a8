import { publishMainScript } from '../options/identity.js'
import { watchLifetime } from './lifetime.js'
import { shareSaidFlags } from './once.js'
import { shareEnd } from './process-end.js'
import { processEngines } from './process-engines.js'
import { shareTold } from './told-lately.js'

/** Get ready to see pino's workers start, and the end of the process; called when `sluice` is imported, and by `sluicePino()`. */
export function attendProcess(): void {
  publishMainScript()
  shareSaidFlags()
  shareEnd()
  shareTold()
  processEngines()
  watchLifetime()
}
