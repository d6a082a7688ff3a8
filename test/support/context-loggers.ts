import pino from 'pino'
import { sluicePino, sluicePinoOptions } from 'sluice/pino'
import { captureSluice } from 'sluice/testing'
import { SluiceTransport } from 'sluice/winston'
import winston from 'winston'

/** A logger of any library, in the order of pino's arguments. */
export interface AnyLogger {
  info(fields: object, message: string): void
  child(fields: object): AnyLogger
}

function ofWinston(logger: winston.Logger): AnyLogger {
  return {
    info: (fields, message) =>
      void (Object.keys(fields).length === 0 ? logger.info(message) : logger.info(message, fields)),
    child: (fields) => ofWinston(logger.child(fields)),
  }
}

const { format } = winston
const withWinston = (settings: winston.LoggerOptions) => () =>
  ofWinston(winston.createLogger({ transports: [new SluiceTransport()], ...settings }))

/** Every way of a line from a logger in this thread to a record. */
export const outputs: readonly (readonly [name: string, make: () => AnyLogger])[] = [
  ['sluicePino()', () => pino(sluicePino())],
  ['sluicePinoOptions() in front of sluicePino()', () => pino(sluicePinoOptions(), sluicePino())],
  ['winston with its json', withWinston({})],
  ['winston with its json and a timestamp', withWinston({ format: format.combine(format.timestamp(), format.json()) })],
  ['winston with another format', withWinston({ format: format.simple() })],
  ['winston with a replacer', withWinston({ format: format.json({ replacer: (_, value: unknown) => value }) })],
]

/** The messages of the records that a logger makes. */
export function messagesOfAll(loggerOf: () => AnyLogger, log: (logger: AnyLogger) => void): string[] {
  using captured = captureSluice()
  log(loggerOf())
  return captured.logs.map(({ message }) => message)
}
