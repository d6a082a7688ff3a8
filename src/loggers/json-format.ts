/** The part of winston's formats that is read here. */
export interface Format {
  readonly transform?: unknown
  readonly options?: unknown
}

/** True for a format that is winston's json: it neither adds to a line nor removes from it. */
export function isJsonFormat(logger: object, format: Format): boolean {
  const transform = defaultTransformOf(logger)
  return transform !== undefined && (format.transform === transform || isSameJson(format.transform, transform))
}

/** True where json's text has all fields. Other options hide some of them. */
export function writesAllFields(format: Format | undefined): boolean {
  const options = format?.options
  if (typeof options !== 'object' || options === null) return options === undefined
  return Object.entries(options).every(([name, value]) => value === undefined || harmless.has(name))
}

const harmless: ReadonlySet<string> = new Set(['deterministic', 'bigint', 'space'])

/** `transform` of the default format, by the class of the logger. */
const defaultTransforms = new WeakMap<object, unknown>()

/** `transform` of winston's default format, json: that of a new logger of the same winston. Undefined for a logger that is not winston's. */
function defaultTransformOf(logger: object): unknown {
  const winstonLogger = ownerOf(logger, 'configure')?.constructor
  if (winstonLogger === undefined) return undefined
  if (!defaultTransforms.has(winstonLogger)) defaultTransforms.set(winstonLogger, newTransform(winstonLogger))
  return defaultTransforms.get(winstonLogger)
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
function newTransform(winstonLogger: unknown): unknown {
  try {
    return new (winstonLogger as new () => { readonly format: Format })().format.transform
  } catch {
    return undefined
  }
}

/** True for the json of another copy of logform. Wrappers may all have the same source, but they do not read the options of json. */
function isSameJson(one: unknown, other: unknown): boolean {
  if (typeof one !== 'function' || typeof other !== 'function') return false
  const source = Function.prototype.toString.call(one)
  return source === Function.prototype.toString.call(other) && source.includes('.replacer')
}
