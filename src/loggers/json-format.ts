import { textIsWritten } from '../records/winston-output.js'

/** The part of winston's formats that is read here. */
export interface Format {
  readonly transform?: unknown
  readonly options?: unknown
}

/** True for a format that is winston's json: it neither adds to a line nor removes from it. */
export function isJsonFormat(logger: object, format: Format): boolean {
  const transform = defaultFormatOf(logger)?.transform
  return transform !== undefined && isSameJson(unwatched(format.transform), unwatched(transform))
}

/** The `transform` of a watched json, by the one that is in its place. */
const originals = new Map<unknown, unknown>()

function unwatched(transform: unknown): unknown {
  return originals.get(transform) ?? transform
}

/** Remembers which lines the json of this logger's winston writes: a chain of formats does not tell what it consists of. */
export function watchJson(logger: object): void {
  const json: object | null = Object.getPrototypeOf(defaultFormatOf(logger) ?? {})
  const transform = json !== null && Object.hasOwn(json, 'transform') && Reflect.get(json, 'transform')
  if (json === null || typeof transform !== 'function' || !isJson(transform) || originals.has(transform)) return
  const watched = function (this: unknown, info: object, options: unknown): unknown {
    const written: unknown = transform.call(this, info, options)
    if (mayHideErrors(info)) textIsWritten(info, writesAllFields({ options }))
    return written
  }
  if (Reflect.set(json, 'transform', watched)) originals.set(watched, transform)
}

/** Lines without objects need no memory. */
function mayHideErrors(info: object): boolean {
  if (info instanceof Error) return true
  for (const key in info) if (typeof (info as Record<string, unknown>)[key] === 'object') return true
  return false
}

/** True where json's text has all fields. Other options hide some of them. */
export function writesAllFields(format: Format | undefined): boolean {
  const options = format?.options
  if (typeof options !== 'object' || options === null) return options === undefined
  return Object.entries(options).every(([name, value]) => value === undefined || harmless.has(name))
}

const harmless: ReadonlySet<string> = new Set(['deterministic', 'bigint', 'space'])

/** The default format, by the class of the logger. */
const defaultFormats = new WeakMap<object, Format | undefined>()

/** winston's default format, json: that of a new logger of the same winston. Undefined for a logger that is not winston's. */
function defaultFormatOf(logger: object): Format | undefined {
  const winstonLogger = ownerOf(logger, 'configure')?.constructor
  if (winstonLogger === undefined) return undefined
  if (!defaultFormats.has(winstonLogger)) defaultFormats.set(winstonLogger, newFormat(winstonLogger))
  return defaultFormats.get(winstonLogger)
}

/** The last prototype with this property: that of the base class, which the application may have extended. */
function ownerOf(start: object, key: string): object | undefined {
  let owner: object | undefined
  for (let each: object | null = start; each !== null; each = Object.getPrototypeOf(each)) {
    if (Object.hasOwn(each, key)) owner = each
  }
  return owner
}

/** Undefined for a class that is not winston's. */
function newFormat(winstonLogger: unknown): Format | undefined {
  try {
    return new (winstonLogger as new () => { readonly format?: Format })().format
  } catch {
    return undefined
  }
}

/** True for the json of another copy of logform, too. */
function isSameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true
  return isJson(one) && isJson(other) && String(one) === String(other)
}

/** Wrappers may all have the same source, but they do not read the options of json. */
function isJson(transform: unknown): boolean {
  return typeof transform === 'function' && Function.prototype.toString.call(transform).includes('.replacer')
}
