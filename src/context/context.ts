import { AsyncLocalStorage } from 'node:async_hooks'
import { quoted } from '../errors/text-of.js'
import { readOrReason } from '../records/error-like.js'
import { jsonOf } from '../records/json-text.js'
import { hostGlobal } from '../runtime/host.js'

/** Fields for every line of a task, such as `{ requestId: 'r-7' }`. */
export type ContextFields = Readonly<Record<string, unknown>>

/** A field as it stands in a line. */
export interface WrittenField {
  readonly name: string
  /** The name in quotes, with a colon: the field in the text of a line begins so. */
  readonly mark: string
  readonly json: string
}

/** A context as it is kept. Other copies of the package read it, so its shape belongs to the version of the key below. */
interface StoredContext {
  readonly fields: ContextFields
  readonly written: readonly WrittenField[]
}

/** One for the whole thread, made by the first copy of the package. Without a storage no context was ever made. */
const key = Symbol.for('sluice.context.v1')
const shared = hostGlobal as { [key]?: { storage: AsyncLocalStorage<StoredContext> | undefined } }
shared[key] ??= { storage: undefined }
const holder = shared[key]

const none: ContextFields = Object.freeze({})

/** Longest JSON of one field. */
const maxFieldChars = 32_768

/** A line has these itself, and they say when, where and how severe it is. */
const namesOfLines = new Set(['level', 'time', 'timestamp', 'pid', 'hostname', 'msg', 'message', 'stack', '__proto__'])

/**
 * Calls a function whose lines, and those of everything that it awaits or starts, get these fields. Contexts within it add their own
 * fields; of two fields with one name the inner one wins, and a field of the line itself wins over both. The fields are copied and
 * written as JSON here, so later changes have no effect. A field that is undefined is left out.
 *
 *     withContext({ requestId: 'r-7' }, () => handle(request))
 *
 * @param fields of any type with fields, such as an interface. At most 32,768 characters of JSON for each are in a line. `level`, `time`, `timestamp`, `pid`, `hostname`, `msg`,
 *   `message` and `stack` belong to the line and are not added to it
 * @returns what `run` returns. What it throws is thrown
 * @throws {TypeError} where `fields` is no object or `run` is no function
 */
export function withContext<Result>(fields: object, run: () => Result): Result {
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields))
    throw new TypeError(
      `withContext: fields must be an object, got ${Array.isArray(fields) ? 'an array' : quoted(fields)}`,
    )
  if (typeof run !== 'function') throw new TypeError(`withContext: run must be a function, got ${quoted(run)}`)
  holder.storage ??= new AsyncLocalStorage()
  return holder.storage.run(nested(holder.storage.getStore(), fields), run)
}

/** The fields of {@link withContext} here, frozen; an empty object where there is no context. */
export function currentContext(): ContextFields {
  return holder.storage?.getStore()?.fields ?? none
}

/** The fields of the context for a line. */
export function writtenContext(): readonly WrittenField[] | undefined {
  return holder.storage?.getStore()?.written
}

/** @param json without line ends */
export function writtenField(name: string, json: string): WrittenField {
  return { name, mark: `${JSON.stringify(name)}:`, json }
}

function nested(outer: StoredContext | undefined, fields: object): StoredContext {
  const all = new Map(outer === undefined ? [] : Object.entries(outer.fields))
  const written = new Map(outer?.written.map((field) => [field.name, field]))
  for (const name of keysOf(fields)) {
    const value = readOrReason(fields, name)
    if (value === undefined) continue
    all.set(name, value)
    if (!namesOfLines.has(name)) written.set(name, writtenField(name, jsonOf(value, { maxChars: maxFieldChars })))
  }
  return { fields: Object.freeze(Object.fromEntries(all)), written: [...written.values()] }
}

/** A proxy of the application may throw. */
function keysOf(fields: object): readonly string[] {
  try {
    return Object.keys(fields)
  } catch {
    return []
  }
}
