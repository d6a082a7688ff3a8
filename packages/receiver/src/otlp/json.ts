import {
  type Attributes,
  type Bound,
  boundOfRecord,
  latestTime,
  type Nanoseconds,
  OtlpError,
  type ReceivedLog,
  type ReceivedScope,
  type RequestBounds,
  setAttribute,
} from './logs.js'

/**
 * Reads a request that was parsed as JSON, by the rules of OTLP/JSON: names in lowerCamelCase, ids in hex, 64-bit integers as text or
 * number. Names that are not known are passed over. Its records are read when they are asked for.
 *
 * @throws {OtlpError} that names the first value that is none of the message, or the bound that is exceeded
 */
export function readJson(body: unknown, bounds: RequestBounds): readonly ReceivedScope[] {
  return asOtlp(() => readRequest(body, bounds))
}

function asOtlp<Result>(read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    throw error instanceof RangeError ? new OtlpError('has values of too many levels') : error
  }
}

function readRequest(body: unknown, bounds: RequestBounds): readonly ReceivedScope[] {
  const { resourceLogs } = objectAt(body, '')
  const values = new ValueReader(bounds.ofResources)
  return listAt(resourceLogs, 'resourceLogs').flatMap((each, index) => {
    const path = `resourceLogs[${index}]`
    const { resource, scopeLogs } = objectAt(each, path)
    const written = objectAt(resource, `${path}.resource`).attributes
    const attributes = values.attributesAt(written, `${path}.resource.attributes`)
    const scopes = listAt(scopeLogs, `${path}.scopeLogs`)
    bounds.scopes.take(scopes.length)
    return scopes.map((ofScope, at) => {
      const read = scopeAt(ofScope, { path: `${path}.scopeLogs[${at}]`, values })
      bounds.records.take(read.count)
      return { resource: attributes, ...read }
    })
  })
}

function scopeAt(
  value: unknown,
  { path, values }: { path: string; values: ValueReader },
): Omit<ReceivedScope, 'resource'> {
  const { scope, logRecords } = objectAt(value, path)
  const { name, attributes } = objectAt(scope, `${path}.scope`)
  const records = listAt(logRecords, `${path}.logRecords`)
  return {
    scope: textAt(name, `${path}.scope.name`),
    attributes: values.attributesAt(attributes, `${path}.scope.attributes`),
    count: records.length,
    records: logsAt(records, `${path}.logRecords`),
  }
}

function* logsAt(records: readonly unknown[], path: string): Generator<ReceivedLog> {
  for (const [index, each] of records.entries()) yield asOtlp(() => logAt(each, `${path}[${index}]`))
}

function logAt(value: unknown, path: string): ReceivedLog {
  const log = objectAt(value, path)
  const values = new ValueReader(boundOfRecord())
  return {
    time: timeAt(log.timeUnixNano, `${path}.timeUnixNano`),
    observedTime: timeAt(log.observedTimeUnixNano, `${path}.observedTimeUnixNano`),
    severityNumber: severityAt(log.severityNumber, `${path}.severityNumber`),
    severityText: textAt(log.severityText, `${path}.severityText`),
    body: values.valueAt(log.body ?? {}, `${path}.body`) ?? undefined,
    attributes: values.attributesAt(log.attributes, `${path}.attributes`),
    traceId: textAt(log.traceId, `${path}.traceId`),
    spanId: textAt(log.spanId, `${path}.spanId`),
    eventName: textAt(log.eventName, `${path}.eventName`),
  }
}

/** Reads values and attributes, as many as its bound allows. */
class ValueReader {
  readonly #bound: Bound

  constructor(bound: Bound) {
    this.#bound = bound
  }

  attributesAt(value: unknown, path: string): Attributes {
    const attributes: Attributes = {}
    for (const [index, each] of listAt(value, path).entries()) {
      this.#bound.take(1)
      const { key, value: written } = objectAt(each, `${path}[${index}]`)
      setAttribute(attributes, textAt(key, `${path}[${index}].key`), this.valueAt(written, `${path}[${index}].value`))
    }
    return attributes
  }

  /** An `AnyValue`: an object with one of its names; null for an empty one. */
  valueAt(value: unknown, path: string): unknown {
    this.#bound.take(1)
    const any = objectAt(value, path)
    if (any.stringValue != null) return textAt(any.stringValue, `${path}.stringValue`)
    if (any.boolValue != null) return any.boolValue === true
    if (any.intValue != null) return integerAt(any.intValue, `${path}.intValue`)
    if (any.doubleValue != null) return doubleAt(any.doubleValue, `${path}.doubleValue`)
    if (any.bytesValue != null) return textAt(any.bytesValue, `${path}.bytesValue`)
    if (any.arrayValue != null) {
      const { values } = objectAt(any.arrayValue, `${path}.arrayValue`)
      return listAt(values, `${path}.arrayValue.values`).map((each, index) =>
        this.valueAt(each, `${path}.arrayValue.values[${index}]`),
      )
    }
    if (any.kvlistValue != null) {
      const { values } = objectAt(any.kvlistValue, `${path}.kvlistValue`)
      return this.attributesAt(values, `${path}.kvlistValue.values`)
    }
    return null
  }
}

function integerAt(value: unknown, path: string): number | string {
  const written = typeof value === 'number' ? String(value) : textAt(value, path)
  if (!/^-?\d{1,19}$/.test(written)) throw expected('a whole number', path)
  return Number.isSafeInteger(Number(written)) ? Number(written) : written
}

/** JSON has no infinity: OTLP writes `"Infinity"` and `"NaN"`. */
function doubleAt(value: unknown, path: string): number {
  if (typeof value === 'number') return value
  if (typeof value === 'string' && /^(-?Infinity|NaN|-?[\d.eE+-]+)$/.test(value)) return Number(value)
  throw expected('a number', path)
}

function timeAt(value: unknown, path: string): Nanoseconds {
  if (value == null) return 0n
  const written = typeof value === 'number' && Number.isInteger(value) ? value : textAt(value, path)
  if (typeof written === 'string' && !/^\d{0,20}$/.test(written)) throw expected('a whole number of nanoseconds', path)
  const time = BigInt(written)
  if (time > latestTime) throw expected('a number of nanoseconds that 64 bits can hold', path)
  return time < 0n ? 0n : time
}

function severityAt(value: unknown, path: string): number {
  if (value == null) return 0
  if (typeof value !== 'number') throw expected('a number', path)
  return value
}

function objectAt(value: unknown, path: string): Readonly<Record<string, unknown>> {
  if (value == null && path !== '') return {}
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw expected('an object', path)
}

function listAt(value: unknown, path: string): readonly unknown[] {
  if (value == null) return []
  if (Array.isArray(value)) return value
  throw expected('a list', path)
}

function textAt(value: unknown, path: string): string {
  if (value == null) return ''
  if (typeof value === 'string') return value
  throw expected('a text', path)
}

function expected(type: string, path: string): OtlpError {
  return new OtlpError(path === '' ? `must be ${type}` : `has ${path}, which must be ${type}`)
}
