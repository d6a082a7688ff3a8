/** Fields that hold a trace's id, in the notations of OpenTelemetry, of ECS and of Datadog. The first one counts. */
const traceKeys = ['trace_id', 'traceId', 'trace.id', 'dd.trace_id'] as const
/** Fields that hold a request's id. The first one counts. */
const requestKeys = ['requestId', 'request_id', 'reqId', 'req_id', 'req.id'] as const
const maxIdChars = 200

type Fields = Readonly<Record<string, unknown>>

/** The id of the trace to which a line belongs. */
export function traceOf(fields: Fields): string | undefined {
  return firstId(fields, traceKeys)
}

/** The id of the request to which a line belongs, else that of its trace. */
export function idOf(fields: Fields): string | undefined {
  return firstId(fields, requestKeys) ?? traceOf(fields)
}

function firstId(fields: Fields, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const id = written(fields[key]) ?? written(innerField(fields, key))
    if (id !== undefined) return id
  }
  return undefined
}

/** The field `id` of the object `req`, for the key `req.id`. */
function innerField(fields: Fields, key: string): unknown {
  const dot = key.indexOf('.')
  const outer = dot === -1 ? undefined : fields[key.slice(0, dot)]
  if (typeof outer !== 'object' || outer === null) return undefined
  try {
    return (outer as Fields)[key.slice(dot + 1)]
  } catch {
    // An object of the application may throw.
    return undefined
  }
}

function written(id: unknown): string | undefined {
  if (typeof id === 'number') return String(id)
  return typeof id === 'string' && id !== '' ? id.slice(0, maxIdChars) : undefined
}
