import { installProcessHooks } from './process/install.js'

export { SluiceTransport, type SluiceTransportOptions } from './loggers/winston-transport.js'

installProcessHooks()
