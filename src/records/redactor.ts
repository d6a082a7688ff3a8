import { type PatternName, textMasker } from './secret-patterns.js'

/** The settings of {@link Redactor}, complete. */
export interface Redaction {
  /** Keys whose values are hidden, in any case. `*` stands for any characters. */
  readonly keys: readonly string[]
  /** Texts that are hidden wherever they stand. */
  readonly patterns: readonly PatternName[]
  /** Stands in the place of what is hidden. */
  readonly mask: string
}

/** Keys whose decision is remembered. An application has few; more are decided anew. */
const maxKnown = 1000
const maxKnownChars = 200
/** An array or object further down is hidden as a whole. */
const maxDepth = 1000

/** Hides the values of keys, and texts of certain patterns, before a record is made. One for each thread and engine. */
export class Redactor {
  readonly #mask: string
  readonly #exact: ReadonlySet<string>
  readonly #globs: readonly (readonly string[])[]
  readonly #known = new Map<string, boolean>()
  readonly #maskText: ((text: string) => string) | undefined
  #hasRedacted = false

  constructor({ keys, patterns, mask }: Redaction) {
    const lowered = keys.map((key) => key.toLowerCase())
    this.#exact = new Set(lowered.filter((key) => !key.includes('*')))
    this.#globs = lowered.filter((key) => key.includes('*')).map((key) => key.split('*'))
    this.#mask = mask
    if (patterns.length === 0) return
    this.#maskText = textMasker(patterns, mask)
  }

  /** True where something has been hidden since the last question. */
  takeRedacted(): boolean {
    const has = this.#hasRedacted
    this.#hasRedacted = false
    return has
  }

  /** True for a key whose value is hidden. */
  hides(key: string): boolean {
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const lowered = key.toLowerCase()
    const hidden = this.#exact.has(lowered) || this.#globs.some((parts) => matches(lowered, parts))
    if (this.#known.size >= maxKnown) this.#known.clear()
    if (key.length <= maxKnownChars) this.#known.set(key, hidden)
    return hidden
  }

  /** The text without what the patterns hide. */
  text(text: string): string {
    const masked = this.#maskText === undefined ? text : this.#maskText(text)
    if (masked !== text) this.#hasRedacted = true
    return masked
  }

  /** True for a text in which something was hidden, as far as it shows. */
  hasMask(text: string): boolean {
    return text.includes(this.#mask)
  }

  /** Stands in the place of a hidden value. */
  hide(): string {
    this.#hasRedacted = true
    return this.#mask
  }

  /** Changes fields that were parsed from JSON. */
  fields(fields: Record<string, unknown>): void {
    this.#fields(fields, 0)
  }

  /** A value that was parsed from JSON, without what is hidden. An object or array is changed. */
  value(value: unknown): unknown {
    return this.#value(value, 0)
  }

  #value(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return this.text(value)
    if (typeof value === 'number') return this.#number(value)
    if (typeof value !== 'object' || value === null) return value
    if (depth === maxDepth) return this.hide()
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index++) value[index] = this.#value(value[index], depth + 1)
      return value
    }
    this.#fields(value as Record<string, unknown>, depth)
    return value
  }

  #fields(fields: Record<string, unknown>, depth: number): void {
    for (const key of Object.keys(fields)) {
      set(fields, key, this.hides(key) ? this.hide() : this.#value(fields[key], depth + 1))
    }
    this.#renameKeys(fields)
  }

  /** A number becomes a text where its digits are hidden. */
  #number(value: number): unknown {
    const written = String(value)
    const masked = this.text(written)
    return masked === written ? value : masked
  }

  /** Keys may have the texts of patterns, too. */
  #renameKeys(fields: Record<string, unknown>): void {
    if (this.#maskText === undefined) return
    // One for all keys: thousands of them may have the same name now.
    let number = 1
    for (const key of Object.keys(fields)) {
      const masked = this.text(key)
      if (masked === key) continue
      let name = masked
      while (Object.hasOwn(fields, name)) name = `${masked} ${++number}`
      const value = fields[key]
      delete fields[key]
      set(fields, name, value)
    }
  }
}

/** The options with a redactor of their own. */
export function redacting<Options extends { readonly redact?: Redaction | undefined }>(options: Options) {
  const { redact } = options
  return { ...options, redactor: redact === undefined ? undefined : new Redactor(redact) }
}

/** True where the parts follow one another in the text: the first at its beginning, the last at its end. Without backtracking. */
function matches(text: string, parts: readonly string[]): boolean {
  const first = parts[0]!
  const last = parts.at(-1)!
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false
  const end = text.length - last.length
  let at = first.length
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at)
    if (found === -1 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}

/** Sets a field, also one with the name `__proto__`. */
function set(fields: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') fields[key] = value
  else Object.defineProperty(fields, key, { value, enumerable: true, configurable: true, writable: true })
}
