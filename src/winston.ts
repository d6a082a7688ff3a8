import { attendProcess } from './tracking/process-sluice.js'

export { SluiceTransport, type SluiceTransportOptions } from './loggers/winston-transport.js'

attendProcess()
