import { fieldsOf, textOf } from './order.js'

/** @typedef {import('./order.js').Contestant} Contestant */

// Names are plain strings, for the type check runs without the rivals.
const segmentLibrary = '@segment/analytics-node'
const posthogLibrary = 'posthog-node'
const logsLibrary = '@opentelemetry/sdk-logs'
const exporterLibrary = '@opentelemetry/exporter-logs-otlp-http'

/** @type {(more?: object) => Contestant['start']} */
const segment = (more) => async (host) => {
  const { Analytics } = await import(segmentLibrary)
  const analytics = new Analytics({ writeKey: 'benchmark', host, ...more })
  return {
    log: (number) => analytics.track({ userId: 'c-17', event: textOf(number), properties: fieldsOf(number) }),
    close: () => analytics.closeAndFlush(),
  }
}

/** @type {(more?: object) => Contestant['start']} */
const posthog = (more) => async (host) => {
  const { PostHog } = await import(posthogLibrary)
  const client = new PostHog('benchmark', { host, ...more })
  return {
    log: (number) => client.capture({ distinctId: 'c-17', event: textOf(number), properties: fieldsOf(number) }),
    close: () => client.shutdown(),
  }
}

/** @type {(more?: object) => Contestant['start']} */
const openTelemetry = (more) => async (url) => {
  const { BatchLogRecordProcessor, LoggerProvider } = await import(logsLibrary)
  const { OTLPLogExporter } = await import(exporterLibrary)
  const exporter = new OTLPLogExporter({ url: `${url}/v1/logs` })
  const provider = new LoggerProvider({ processors: [new BatchLogRecordProcessor({ exporter, ...more })] })
  const logger = provider.getLogger('benchmark')
  return {
    log: (number) =>
      logger.emit({
        severityNumber: 9,
        severityText: 'INFO',
        body: textOf(number),
        attributes: fieldsOf(number),
      }),
    close: () => provider.shutdown(),
  }
}

const segmentServer = { answer: { status: '200 OK', body: '{"success":true}' } }
const posthogServer = { answer: { status: '200 OK', body: '{"status":1}' } }
const otlpServer = { answer: { status: '200 OK', body: '{}' } }

/** @type {Record<string, Contestant>} */
export const clients = {
  '@segment/analytics-node': { library: segmentLibrary, server: segmentServer, start: segment() },
  '@segment/analytics-node, tuned': {
    library: segmentLibrary,
    server: segmentServer,
    start: segment({ flushAt: 500 }),
  },
  'posthog-node': { library: posthogLibrary, server: posthogServer, start: posthog() },
  'posthog-node, tuned': {
    library: posthogLibrary,
    server: posthogServer,
    start: posthog({ maxQueueSize: 10_000_000, maxBatchSize: 1000, flushAt: 1000 }),
  },
  'OpenTelemetry sdk-logs': { library: logsLibrary, server: otlpServer, start: openTelemetry() },
  'OpenTelemetry sdk-logs, tuned': {
    library: logsLibrary,
    server: otlpServer,
    start: openTelemetry({ maxQueueSize: 10_000_000 }),
  },
}
