export { sluicePinoOptions } from './loggers/pino-options.js'
export { type SluicePinoStream, sluicePino } from './loggers/pino-stream.js'
export { type PinoTargetOptions, pinoTarget, pinoTarget as default } from './loggers/pino-target.js'
