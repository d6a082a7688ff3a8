import type { LoggerOptions } from 'pino'
import { jsonOf } from '../records/json-text.js'

/** What an error may be as text; far more than a record takes by default. */
const maxErrorChars = 262_144

/**
 * Options for pino that keep what pino alone would lose: an error behind the message (`logger.error('failed', error)`), an error in any
 * field (`{ error }`, `{ result: { reason: error } }`), and of each error its cause, the members of an aggregate and their fields.
 *
 *     const logger = pino({ ...sluicePinoOptions(), transport: { target: 'sluice/pino' } })
 *
 * @param options pino's options, which are kept: serializers, hooks and formatters of the application's run, too
 */
export function sluicePinoOptions(options: LoggerOptions = {}): LoggerOptions {
  const errorKey = options.errorKey ?? 'err'
  const { logMethod } = options.hooks ?? {}
  const { log } = options.formatters ?? {}
  const serializers = { err: serializeError, error: serializeError, [errorKey]: serializeError, ...options.serializers }
  return {
    ...options,
    serializers,
    formatters: {
      ...options.formatters,
      log: (fields) => withoutErrors(log === undefined ? fields : log(fields), serializers),
    },
    hooks: {
      ...options.hooks,
      logMethod(args, method, level) {
        const moved = errorsFirst(args, errorKey) as typeof args
        if (logMethod === undefined) method.apply(this, moved)
        else logMethod.call(this, moved, method, level)
      },
    },
  }
}

/** An error with all that belongs to it as a plain object; anything else as it is. */
function serializeError(value: unknown): unknown {
  return value instanceof Error ? plain(value) : value
}

/** Arguments of a call, with the errors that come behind the first one among the fields, where a serializer sees them. */
function errorsFirst(args: readonly unknown[], errorKey: string): readonly unknown[] {
  const [first, ...rest] = args
  const errors = rest.filter((argument) => argument instanceof Error)
  if (errors.length === 0) return args
  const fields: Record<string, unknown> =
    first instanceof Error ? { [errorKey]: first } : isFields(first) ? { ...first } : {}
  for (const error of errors) fields[freeKey(fields, errorKey)] = error
  const text = typeof first === 'object' ? rest : args
  return [fields, ...(text[0] instanceof Error ? text.slice(1) : text)]
}

function freeKey(fields: Readonly<Record<string, unknown>>, errorKey: string): string {
  if (fields[errorKey] === undefined) return errorKey
  for (let number = 1; ; number++) {
    const key = number === 1 ? 'error' : `error${number}`
    if (fields[key] === undefined) return key
  }
}

/** The same fields, with plain objects in the place of errors that no serializer will see. */
function withoutErrors(
  fields: Record<string, unknown>,
  serializers: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  try {
    let changed: Record<string, unknown> | undefined
    for (const [key, value] of Object.entries(fields)) {
      const replaced = value instanceof Error && Object.hasOwn(serializers, key) ? value : withPlainErrors(value, 0)
      if (replaced === value) continue
      changed ??= { ...fields }
      changed[key] = replaced
    }
    return changed ?? fields
  } catch {
    // A getter of the application's that throws, which pino may survive.
    return fields
  }
}

/** pino itself writes no deeper than this. */
const maxDepth = 5

function withPlainErrors(value: unknown, depth: number): unknown {
  if (value instanceof Error) return plain(value)
  if (depth >= maxDepth) return value
  if (Array.isArray(value)) {
    const items = value.map((item) => withPlainErrors(item, depth + 1))
    return items.some((item, index) => item !== value[index]) ? items : value
  }
  if (!isFields(value) || Object.getPrototypeOf(value) !== Object.prototype) return value
  const entries = Object.entries(value).map(([key, item]) => [key, withPlainErrors(item, depth + 1)] as const)
  return entries.some(([key, item]) => item !== value[key]) ? Object.fromEntries(entries) : value
}

function plain(error: Error): unknown {
  return JSON.parse(jsonOf(error, { maxChars: maxErrorChars }))
}

function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
