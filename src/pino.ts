export { pinoTarget, pinoTarget as default } from './loggers/lazy-pino-target.js'
export { sluicePinoOptions } from './loggers/pino-options.js'
export { type SluicePinoStream, sluicePino } from './loggers/pino-stream.js'
export type { PinoTargetOptions } from './loggers/pino-target.js'
