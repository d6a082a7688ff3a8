import { attendProcess } from './worker/attend.js'

export { SluiceTransport, type SluiceTransportOptions } from './loggers/winston-transport.js'

attendProcess()
