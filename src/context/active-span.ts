import { type WrittenField, writtenField } from './context.js'

/** The global of `@opentelemetry/api`, in which all of its copies of version 1 find each other. */
const api = Symbol.for('opentelemetry.js.api.1')
/** The key of the span in a context of OpenTelemetry. */
const spanKey = Symbol.for('OpenTelemetry Context Key SPAN')

/** The part of OpenTelemetry that is read here. */
interface Api {
  readonly context?: { active(): { getValue(key: symbol): Span | undefined } }
}

interface Span {
  spanContext(): SpanIds
}

interface SpanIds {
  readonly traceId: string
  readonly spanId: string
}

let lastTrace: string | undefined
let lastSpan: string | undefined
let last: readonly WrittenField[] | undefined

/**
 * `trace_id` and `span_id` of the active span of OpenTelemetry; the same array for the same ids. Undefined without one, and where the
 * application has not loaded `@opentelemetry/api`.
 */
export function activeSpan(): readonly WrittenField[] | undefined {
  const { context } = ((globalThis as { [api]?: Api })[api] ?? {}) as Api
  if (context === undefined) return undefined
  try {
    const ids = context.active().getValue(spanKey)?.spanContext()
    if (ids === undefined) return undefined
    const { traceId, spanId } = ids
    if (traceId !== lastTrace || spanId !== lastSpan) {
      lastTrace = traceId
      lastSpan = spanId
      last = isId(traceId, 32) && isId(spanId, 16) ? written(ids) : undefined
    }
    return last
  } catch {
    // A context manager of the application threw.
    return undefined
  }
}

function written({ traceId, spanId }: SpanIds): readonly WrittenField[] {
  return [writtenField('trace_id', JSON.stringify(traceId)), writtenField('span_id', JSON.stringify(spanId))]
}

/** True for lower-case hexadecimal digits that are not all zero. */
function isId(text: string, digits: number): boolean {
  return text.length === digits && /^[\da-f]+$/.test(text) && !/^0+$/.test(text)
}
