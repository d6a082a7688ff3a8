// OpenTelemetry: each line carries the ids of the trace and the span in which it was logged. Run with SLUICE_URL, SLUICE_API_KEY and
// SLUICE_BUCKET set; OTEL_SERVICE_NAME names the spans and the records.
import { trace } from '@opentelemetry/api'
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import pino from 'pino'
import { sluicePinoOptions } from 'sluice/pino'

new NodeTracerProvider({ spanProcessors: [] }).register() // your span processors

const logger = pino({ ...sluicePinoOptions(), transport: { target: 'sluice/pino' } })

const tracer = trace.getTracer('shop')

async function reserveStock() {
  await tracer.startActiveSpan('reserve stock', async (span) => {
    logger.info('stock reserved')
    span.end()
  })
}

await tracer.startActiveSpan('place order', async (span) => {
  await reserveStock()
  logger.info({ orderId: 7 }, 'order placed')
  span.end()
})
