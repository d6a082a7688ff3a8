import { installProcessHooks } from './process/install.js'

// `node --import sluice/register app.js`: deliver before a signal ends an application that knows only pino's target.
installProcessHooks()
