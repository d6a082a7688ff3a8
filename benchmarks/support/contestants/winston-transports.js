import { once } from 'node:events'
import { fieldsOf, textOf } from './order.js'

/** @typedef {import('./order.js').Contestant} Contestant */

/**
 * A logger of winston; loaded here, so that a process has no more in it than its contestant needs.
 *
 * @param {(winston: typeof import('winston')) => import('winston').transport} make
 */
export async function winstonLines(make) {
  const { default: winston } = await import('winston')
  const logger = winston.createLogger({ transports: [make(winston)] })
  return {
    log: (/** @type {number} */ number) => logger.info(textOf(number), fieldsOf(number)),
    close: async () => {
      logger.end()
      await once(logger, 'finish')
    },
  }
}

// A plain string, for the type check runs without the rivals.
const lokiLibrary = 'winston-loki'
const httpAnswer = { status: '200 OK' }

/** @type {(more?: object) => Contestant['start']} */
const http = (more) => (url) =>
  winstonLines(
    (winston) => new winston.transports.Http({ host: '127.0.0.1', port: Number(new URL(url).port), ...more }),
  )

/** @type {Record<string, Contestant>} */
export const winstonTransports = {
  'winston, a transport that does nothing': {
    server: null,
    start: async () => {
      const { default: TransportStream } = await import('winston-transport')
      const log = (/** @type {unknown} */ _info, /** @type {() => void} */ next) => next()
      return winstonLines(() => new TransportStream({ log }))
    },
  },
  'winston-loki': {
    library: lokiLibrary,
    server: { answer: { status: '204 No Content', body: '' }, snappy: true },
    start: async (host) => {
      const { default: LokiTransport } = await import(lokiLibrary)
      const transport = new LokiTransport({ host })
      return { ...(await winstonLines(() => transport)), close: () => transport.flush() }
    },
  },
  'winston Http': { library: 'winston', server: { answer: httpAnswer }, start: http() },
  'winston Http, tuned': {
    library: 'winston',
    server: { answer: httpAnswer },
    start: http({ batch: true, batchCount: 100 }),
  },
}
