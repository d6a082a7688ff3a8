import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { fieldsOf, textOf } from './order.js'

/** @typedef {import('./order.js').Contestant} Contestant */

const discardingTarget = fileURLToPath(new URL('../discarding-target.js', import.meta.url))

/**
 * A logger of pino; loaded here, so that a process has no more in it than its contestant needs.
 *
 * @param {(pino: typeof import('pino').default) => import('pino').Logger} make
 */
export async function pinoLines(make) {
  const { default: pino } = await import('pino')
  const logger = make(pino)
  const stream = /** @type {any} */ (logger)[pino.symbols.streamSym]
  return {
    log: (/** @type {number} */ number) => logger.info(fieldsOf(number), textOf(number)),
    room: async () => {
      if (stream.writableNeedDrain) await once(stream, 'drain')
    },
  }
}

/**
 * @param {string} target
 * @param {(url: string) => object} options
 */
const targetWith = (target, options) => (/** @type {string} */ url) =>
  pinoLines((pino) => pino({ transport: { target, options: options(url) } }))

const loki = (more = {}) => targetWith('pino-loki', (host) => ({ host, ...more }))
const logtail = (more = {}) =>
  targetWith('@logtail/pino', (endpoint) => ({ sourceToken: 'benchmark', options: { endpoint, ...more } }))
const axiom = targetWith('@axiomhq/pino', (url) => ({ dataset: 'benchmark', token: 'benchmark', url }))
const openTelemetry = (more = {}) =>
  targetWith('pino-opentelemetry-transport', (url) => ({
    loggerName: 'benchmark',
    serviceVersion: '1.2.3',
    logRecordProcessorOptions: {
      recordProcessorType: 'batch',
      exporterOptions: { protocol: 'http/protobuf', protobufExporterOptions: { url: `${url}/v1/logs` } },
      ...more,
    },
  }))
const otlpAnswer = { status: '200 OK', type: 'application/x-protobuf', body: '' }

/** @type {Record<string, Contestant>} */
export const pinoTargets = {
  'pino to /dev/null': {
    server: null,
    start: () => pinoLines((pino) => pino(pino.destination({ dest: '/dev/null', sync: true }))),
  },
  'pino, a worker that discards': {
    server: null,
    start: () => pinoLines((pino) => pino({ transport: { target: discardingTarget } })),
  },
  'pino-loki': { library: 'pino-loki', server: { answer: { status: '204 No Content', body: '' } }, start: loki() },
  'pino-loki, tuned': {
    library: 'pino-loki',
    server: { answer: { status: '204 No Content', body: '' } },
    start: loki({ batching: { maxBufferSize: 10_000_000 } }),
  },
  '@logtail/pino': { library: '@logtail/pino', server: { answer: { status: '202 Accepted' } }, start: logtail() },
  '@logtail/pino, tuned': {
    library: '@logtail/pino',
    server: { answer: { status: '202 Accepted' } },
    start: logtail({ burstProtectionMilliseconds: 0, syncQueuedMax: -1 }),
  },
  '@axiomhq/pino': { library: '@axiomhq/pino', server: { answer: { status: '200 OK' } }, start: axiom },
  'pino-opentelemetry-transport': {
    library: 'pino-opentelemetry-transport',
    server: { answer: otlpAnswer },
    start: openTelemetry(),
  },
  'pino-opentelemetry-transport, tuned': {
    library: 'pino-opentelemetry-transport',
    server: { answer: otlpAnswer },
    start: openTelemetry({ processorConfig: { maxQueueSize: 10_000_000 } }),
  },
}
