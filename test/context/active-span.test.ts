import { context, createContextKey, trace } from '@opentelemetry/api'
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import { withContext } from 'sluice'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type AnyLogger, messagesOfAll, outputs } from '../support/context-loggers.js'

beforeEach(() => new NodeTracerProvider({ spanProcessors: [] }).register())
afterEach(() => {
  trace.disable()
  context.disable()
})

const tracer = () => trace.getTracer('shop')

describe.each(outputs)('a line of %s in a span of OpenTelemetry', (_, loggerOf) => {
  const fieldsOf = (log: (logger: AnyLogger) => void) =>
    messagesOfAll(loggerOf, log).map((message) => JSON.parse(message.slice(message.indexOf('{'))))

  it('has the ids of the trace and the span, after the fields of the context', () => {
    const ids: object[] = []
    const fields = fieldsOf((logger) => {
      for (const name of ['first', 'second']) {
        tracer().startActiveSpan(name, (span) => {
          const { traceId, spanId } = span.spanContext()
          ids.push({ trace_id: traceId, span_id: spanId }, { requestId: 'r-1', trace_id: traceId, span_id: spanId })
          logger.info({}, name)
          withContext({ requestId: 'r-1' }, () => logger.info({}, name))
        })
      }
    })
    expect(fields).toEqual(ids)
  })

  it('has the ids of its own, or of the context, once', () => {
    const messages = messagesOfAll(loggerOf, (logger) =>
      tracer().startActiveSpan('order', () => {
        logger.info({ trace_id: 'own', span_id: 'own' }, 'line')
        withContext({ trace_id: 'own', span_id: 'own' }, () => logger.info({}, 'context'))
      }),
    )
    const written = '{"trace_id":"own","span_id":"own"}'
    expect(
      messages.map((message) => message.replace('"span_id":"own","trace_id":"own"', written.slice(1, -1))),
    ).toEqual([`line ${written}`, `context ${written}`])
  })
})

describe('a line', () => {
  const [, loggerOf] = outputs[0]!

  it('has no ids where no span is active, or where they are not valid', () => {
    const messages = messagesOfAll(loggerOf, (logger) => {
      logger.info({}, 'outside')
      const invalid = trace.wrapSpanContext({ traceId: '0'.repeat(32), spanId: '0'.repeat(16), traceFlags: 0 })
      context.with(trace.setSpan(context.active(), invalid), () => logger.info({}, 'invalid'))
    })
    expect(messages).toEqual(['outside', 'invalid'])
  })

  it('is logged where what stands in the place of a span throws', () => {
    const key = createContextKey('OpenTelemetry Context Key SPAN')
    const messages = messagesOfAll(loggerOf, (logger) =>
      context.with(context.active().setValue(key, 'no span'), () => logger.info({}, 'logged')),
    )
    expect(messages).toEqual(['logged'])
  })
})
