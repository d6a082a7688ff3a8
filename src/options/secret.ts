import { inspect } from 'node:util'
import { readPlainFile } from '../runtime/plain-file.js'

/** A text that must not be shown. Printed, inspected or serialised, it is `[redacted]`. */
export class Secret {
  /** The file with the text, from which it may be read again. */
  readonly file: string | undefined
  readonly #text: string

  constructor(text: string, file?: string) {
    this.#text = text
    this.file = file
  }

  /** The text itself. Call this only to send it. */
  reveal(): string {
    return this.#text
  }

  toString(): string {
    return redacted
  }

  toJSON(): string {
    return redacted
  }

  [inspect.custom](): string {
    return redacted
  }
}

export const redacted = '[redacted]'

/** Shorter secrets are not searched for in texts: they are words of tests and occur inside other words. */
const shortestSecret = 8

/** True for a text that can be a key or a token in the header of a request. */
export function isSecretText(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text)
}

/** The same value with every secret in it redacted. A service may repeat the key in its answer. */
export function hide<Value>(value: Value, secrets: readonly string[]): Value
export function hide(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === 'string') {
    const sought = secrets.filter(({ length }) => length >= shortestSecret)
    return sought.reduce((shown, secret) => shown.replaceAll(secret, redacted), value)
  }
  if (Array.isArray(value)) return value.map((each) => hide(each, secrets))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, hide(each, secrets)]))
}

/** Longer than any key or token. */
const maxBytes = 65_536

/** Reads a key or a token from a file. Follows links, as Kubernetes mounts secrets by a link. Throws the error of the file system. */
export function readSecretFile(path: string): string {
  return readPlainFile(path, { maxBytes, follow: true }).toString('utf8').trim()
}

/**
 * The key of an engine. When the service refuses a key from a file, the file is read again at once, and before each further attempt until
 * it has another key.
 */
export class ApiKey {
  readonly #file: string | undefined
  #text: string
  #refused = false

  constructor(key: Secret) {
    this.#text = key.reveal()
    this.#file = key.file
  }

  /** The key. Call this only to send it. */
  reveal(): string {
    if (this.#refused) this.#readAgain()
    return this.#text
  }

  /** Call this when the service has refused a key. True if there is another one now. */
  renew(refused: string): boolean {
    if (refused === this.#text) this.#readAgain()
    this.#refused = refused === this.#text
    return !this.#refused
  }

  #readAgain(): void {
    const read = this.#file === undefined ? '' : readKey(this.#file)
    if (read === '' || read === this.#text) return
    this.#text = read
    this.#refused = false
  }
}

/** Empty while the file cannot be read or has no key, for example while it is being replaced. The next attempt reads it again. */
function readKey(file: string): string {
  try {
    const text = readSecretFile(file)
    return isSecretText(text) ? text : ''
  } catch {
    return ''
  }
}
