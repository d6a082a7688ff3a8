import type { Logger, LoggerOptions } from 'pino'
import { fieldsForLine, valuesOf } from '../context/line-context.js'
import { isError } from '../errors/is-error.js'
import { jsonOf } from '../records/json-text.js'
import { ownFields } from '../runtime/own-fields.js'
import { bindingsOf } from './pino-logger.js'

/** Longest text of an error: far longer than a record's message by default. */
const maxErrorChars = 262_144

/**
 * Options for pino that keep errors which pino alone would lose: an error after the message (`logger.error('failed', error)`), an error
 * in any field (`{ error }`, `{ result: { reason: error } }`), and each error's cause, aggregate members and fields. They also add the
 * fields of `withContext`, and `trace_id` and `span_id` of the active span of OpenTelemetry, to each line.
 *
 *     const logger = pino({ ...sluicePinoOptions(), transport: { target: 'sluice/pino' } })
 *
 * The options of the application are kept: its serializers, hooks, formatters and mixin run, too.
 */
export function sluicePinoOptions(): Pick<
  LoggerOptions,
  'serializers' | 'formatters' | 'hooks' | 'mixin' | 'mixinMergeStrategy'
>
export function sluicePinoOptions<Levels extends string = never>(options: LoggerOptions<Levels>): LoggerOptions<Levels>
export function sluicePinoOptions(given?: LoggerOptions<string>): object {
  const options = ownFields(given)
  const errorKey = options.errorKey ?? 'err'
  const { logMethod } = options.hooks ?? {}
  const { log } = options.formatters ?? {}
  const { mixin, mixinMergeStrategy = withMixed } = options
  const serializers = { err: serializeError, error: serializeError, [errorKey]: serializeError, ...options.serializers }
  return {
    ...options,
    serializers,
    mixin(fields, level, logger) {
      const added = addedTo(fields, logger)
      return mixin === undefined ? added : { ...added, ...mixin(fields, level, logger) }
    },
    mixinMergeStrategy,
    formatters: {
      ...options.formatters,
      log: (fields) => withoutErrors(log === undefined ? fields : log(fields), serializers),
    },
    hooks: {
      ...options.hooks,
      logMethod(args, method, level) {
        const written = function (this: Logger, ...passedOn: typeof args) {
          method.apply(this, errorsFirst(passedOn, errorKey) as typeof args)
        }
        if (logMethod === undefined) written.apply(this, args)
        else logMethod.call(this, args, written, level)
      },
    },
  } satisfies LoggerOptions<string>
}

/** The fields of the context that neither the call nor the logger has. */
function addedTo(fields: object, logger: Logger<string>): Record<string, unknown> {
  try {
    const added = fieldsForLine()
    if (added === undefined) return {}
    const bound = bindingsOf(logger)
    return valuesOf(added, (name) => Object.hasOwn(fields, name) || Object.hasOwn(bound, name))
  } catch {
    // A proxy of the application threw. pino may be able to go on.
    return {}
  }
}

/** As pino does it by default, but without a copy of the fields where nothing is added. */
function withMixed(fields: object, mixed: object): object {
  for (const _ in mixed) return Object.assign(mixed, fields)
  return fields
}

/** An error with its cause, members and fields as a plain object. Any other value is returned as it is. */
function serializeError(value: unknown): unknown {
  return isError(value) ? plain(value) : value
}

/** The arguments of a call. Its errors are moved into the fields, where serializers see them. pino alone would not know one of another realm. */
function errorsFirst(args: readonly unknown[], errorKey: string): readonly unknown[] {
  const [first, ...rest] = args
  const errors = rest.filter(isError)
  if (errors.length === 0) return isError(first) ? [{ [errorKey]: first }, ...rest] : args
  const fields = fieldsOf(first, errorKey)
  const keys = freeKeys(fields, errorKey)
  for (const error of errors) fields[keys.next().value] = error
  const text = typeof first === 'object' ? rest : args
  return [fields, ...(isError(text[0]) ? text.slice(1) : text)]
}

/** The first argument as fields of a line, as pino itself reads it. A request or a response of HTTP is one field. */
function fieldsOf(first: unknown, errorKey: string): Record<string, unknown> {
  if (isError(first)) return { [errorKey]: first }
  if (!isFields(first)) return {}
  if (first.method && first.headers && first.socket) return { req: first }
  if (typeof first.setHeader === 'function') return { res: first }
  return { ...first }
}

/** Unused keys, one after another. */
function* freeKeys(fields: Readonly<Record<string, unknown>>, errorKey: string): Generator<string, never> {
  if (fields[errorKey] === undefined) yield errorKey
  for (let number = 1; ; number++) {
    const key = number === 1 ? 'error' : `error${number}`
    if (fields[key] === undefined) yield key
  }
}

/** The same fields, with a plain object for each error that no serializer sees. */
function withoutErrors(
  fields: Record<string, unknown>,
  serializers: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const search = new ErrorSearch()
  let changed: Record<string, unknown> | undefined
  for (const key of Object.keys(fields)) {
    try {
      const value = fields[key]
      const replaced = isError(value) && Object.hasOwn(serializers, key) ? value : search.replaced(value)
      if (replaced === value) continue
      changed ??= { ...fields }
      changed[key] = replaced
    } catch {
      // A getter of the application threw. pino may be able to go on.
    }
  }
  return changed ?? fields
}

/** pino itself writes no deeper than this. */
const maxDepth = 5
const maxVisits = 1000
/** Most items and fields that are read in one line: an empty array may have a length of 2^32 - 1. */
const maxReads = 100_000

/** Searches for errors below the first level of a line, where pino calls no serializer. */
class ErrorSearch {
  readonly #ancestors = new Set<object>()
  #visits = 0
  #reads = 0

  /** The same value, or a copy with plain objects for errors. */
  replaced(value: unknown): unknown {
    if (isError(value)) return plain(value)
    if (!isFields(value) || this.#ancestors.size >= maxDepth || ++this.#visits > maxVisits) return value
    if (this.#ancestors.has(value) || typeof value.toJSON === 'function' || ArrayBuffer.isView(value)) return value
    this.#ancestors.add(value)
    try {
      return Array.isArray(value) ? this.#list(value) : this.#fields(value)
    } finally {
      this.#ancestors.delete(value)
    }
  }

  #list(list: readonly unknown[]): readonly unknown[] {
    let copy: unknown[] | undefined
    for (let index = 0; index < list.length && this.#goesOn(); index++) {
      const item = this.replaced(list[index])
      if (item === list[index]) continue
      copy ??= [...list]
      copy[index] = item
    }
    return copy ?? list
  }

  #fields(value: Record<string, unknown>): Record<string, unknown> {
    let copy: Record<string, unknown> | undefined
    for (const key of Object.keys(value)) {
      if (!this.#goesOn()) break
      const field = value[key]
      const replaced = this.replaced(field)
      if (replaced === field) continue
      copy ??= { ...value }
      copy[key] = replaced
    }
    return copy ?? value
  }

  #goesOn(): boolean {
    return this.#visits <= maxVisits && ++this.#reads <= maxReads
  }
}

function plain(error: Error): unknown {
  return JSON.parse(jsonOf(error, { maxChars: maxErrorChars }))
}

function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
