export { type PinoTargetOptions, pinoTarget, pinoTarget as default } from './loggers/pino-target.js'
