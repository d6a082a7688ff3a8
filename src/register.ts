import { installProcessHooks } from './process/install.js'

// `node --import sluice/register app.js`: for an application that uses only pino's target, so that records are delivered before a signal
// ends it.
installProcessHooks()
