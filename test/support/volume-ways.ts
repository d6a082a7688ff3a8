import { LoggerProvider, SimpleLogRecordProcessor } from '@opentelemetry/sdk-logs'
import pino from 'pino'
import type { SluiceOptions } from 'sluice'
import { sluicePino } from 'sluice/pino'
import { SluiceTransport } from 'sluice/winston'
import { SluiceLogRecordExporter } from 'sluice-opentelemetry'
import winston from 'winston'

/** Logs one line at a level: its fields, and its message. */
export type Log = (level: 'debug' | 'info' | 'warn' | 'error', fields: Record<string, unknown>, message: string) => void

function byPino(options: SluiceOptions): Log {
  const logger = pino({ level: 'debug' }, sluicePino(options))
  return (level, fields, message) => logger[level](fields, message)
}

function byWinston(options: SluiceOptions, format: 'json' | 'simple'): Log {
  const transports = [new SluiceTransport(options as object)]
  const logger = winston.createLogger({ level: 'debug', format: winston.format[format](), transports })
  return (level, fields, message) => logger.log(level, message, fields)
}

function byOpenTelemetry(options: SluiceOptions): Log {
  const exporter = new SluiceLogRecordExporter(options)
  const logger = new LoggerProvider({ processors: [new SimpleLogRecordProcessor({ exporter })] }).getLogger('')
  return (level, attributes, body) => logger.emit({ severityText: level, body, attributes: attributes as never })
}

function byTarget(options: SluiceOptions): Log {
  const logger = pino({ level: 'debug' }, pino.transport({ target: 'sluice/pino', options }))
  return (level, fields, message) => logger[level](fields, message)
}

/** Every way of a line to the options of volume, by name. */
export const volumeWays: readonly (readonly [string, (options: SluiceOptions) => Log])[] = [
  ['sluicePino() in a worker', (options) => byPino({ ...options, mode: 'worker' })],
  ['sluicePino() inline', (options) => byPino({ ...options, mode: 'inline' })],
  ['winston with its json in a worker', (options) => byWinston({ ...options, mode: 'worker' }, 'json')],
  ['winston with its json inline', (options) => byWinston({ ...options, mode: 'inline' }, 'json')],
  ['winston with text in a worker', (options) => byWinston({ ...options, mode: 'worker' }, 'simple')],
  ['winston with text inline', (options) => byWinston({ ...options, mode: 'inline' }, 'simple')],
  ['OpenTelemetry’s exporter', byOpenTelemetry],
  ['pino’s target', byTarget],
]
