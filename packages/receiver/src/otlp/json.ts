import {
  type Attributes,
  type Nanoseconds,
  OtlpError,
  type ReceivedLog,
  type ReceivedScope,
  setAttribute,
} from './logs.js'

/**
 * Reads a request that was parsed as JSON, by the rules of OTLP/JSON: names in lowerCamelCase, ids in hex, 64-bit integers as text or
 * number. Names that are not known are passed over.
 *
 * @throws {OtlpError} that names the first value that is none of the message
 */
export function readJson(body: unknown): readonly ReceivedScope[] {
  try {
    return readRequest(body)
  } catch (error) {
    throw error instanceof RangeError ? new OtlpError('has values of too many levels') : error
  }
}

function readRequest(body: unknown): readonly ReceivedScope[] {
  const { resourceLogs } = objectAt(body, '')
  return listAt(resourceLogs, 'resourceLogs').flatMap((each, index) => {
    const path = `resourceLogs[${index}]`
    const { resource, scopeLogs } = objectAt(each, path)
    const attributes = attributesAt(objectAt(resource, `${path}.resource`).attributes, `${path}.resource.attributes`)
    return listAt(scopeLogs, `${path}.scopeLogs`).map((ofScope, at) =>
      scopeAt(ofScope, { path: `${path}.scopeLogs[${at}]`, resource: attributes }),
    )
  })
}

function scopeAt(value: unknown, { path, resource }: { path: string; resource: Attributes }): ReceivedScope {
  const { scope, logRecords } = objectAt(value, path)
  return {
    resource,
    scope: textAt(objectAt(scope, `${path}.scope`).name, `${path}.scope.name`),
    records: listAt(logRecords, `${path}.logRecords`).map((each, index) => logAt(each, `${path}.logRecords[${index}]`)),
  }
}

function logAt(value: unknown, path: string): ReceivedLog {
  const log = objectAt(value, path)
  return {
    time: timeAt(log.timeUnixNano, `${path}.timeUnixNano`),
    observedTime: timeAt(log.observedTimeUnixNano, `${path}.observedTimeUnixNano`),
    severityNumber: severityAt(log.severityNumber, `${path}.severityNumber`),
    severityText: textAt(log.severityText, `${path}.severityText`),
    body: valueAt(log.body ?? {}, `${path}.body`) ?? undefined,
    attributes: attributesAt(log.attributes, `${path}.attributes`),
    traceId: textAt(log.traceId, `${path}.traceId`),
    spanId: textAt(log.spanId, `${path}.spanId`),
    eventName: textAt(log.eventName, `${path}.eventName`),
  }
}

function attributesAt(value: unknown, path: string): Attributes {
  const attributes: Attributes = {}
  for (const [index, each] of listAt(value, path).entries()) {
    const { key, value: written } = objectAt(each, `${path}[${index}]`)
    setAttribute(attributes, textAt(key, `${path}[${index}].key`), valueAt(written, `${path}[${index}].value`))
  }
  return attributes
}

/** An `AnyValue`: an object with one of its names; null for an empty one. */
function valueAt(value: unknown, path: string): unknown {
  const any = objectAt(value, path)
  if (any.stringValue != null) return textAt(any.stringValue, `${path}.stringValue`)
  if (any.boolValue != null) return any.boolValue === true
  if (any.intValue != null) return integerAt(any.intValue, `${path}.intValue`)
  if (any.doubleValue != null) return doubleAt(any.doubleValue, `${path}.doubleValue`)
  if (any.bytesValue != null) return textAt(any.bytesValue, `${path}.bytesValue`)
  if (any.arrayValue != null) {
    const { values } = objectAt(any.arrayValue, `${path}.arrayValue`)
    return listAt(values, `${path}.arrayValue.values`).map((each, index) =>
      valueAt(each, `${path}.arrayValue.values[${index}]`),
    )
  }
  if (any.kvlistValue != null) {
    const { values } = objectAt(any.kvlistValue, `${path}.kvlistValue`)
    return attributesAt(values, `${path}.kvlistValue.values`)
  }
  return null
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
  if (typeof written === 'number') return written < 0 ? 0n : BigInt(written)
  if (!/^\d{0,20}$/.test(written)) throw expected('a whole number of nanoseconds', path)
  return BigInt(written)
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
