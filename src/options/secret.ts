import { inspect } from 'node:util'
import { readPlainFile } from './plain-file.js'

/** A text that must not be seen: printing, inspecting or serialising it gives `[redacted]`. */
export class Secret {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  /** The text itself. Call it only where it goes onto the wire. */
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

/** Fewest characters of a secret that is looked for in a text: what is shorter is a word of a test, and would be found in the middle of others. */
export const shortestSecret = 8

/** True for a text that can be a key or a token: it goes into the header of a request. */
export function isSecretText(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text)
}

/** The same without what is not to be seen, wherever it turns up: a service may repeat in its answer what it was sent. */
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

/** More than any key or token has. */
const maxBytes = 65_536

/** The text of a file that holds a key or a token, which Kubernetes names by a link. Throws what the file system does. */
export function readSecretFile(path: string): string {
  return readPlainFile(path, { maxBytes, follow: true }).toString('utf8').trim()
}

/**
 * The key of an engine. One that came from a file is read again when the service has refused it, for secrets are rotated: at once, and
 * before each further attempt until there is another one.
 */
export class ApiKey {
  readonly #file: string | undefined
  #text: string
  #refused = false

  constructor(key: Secret, file: string | undefined) {
    this.#text = key.reveal()
    this.#file = file
  }

  /** Call it only where it goes onto the wire. */
  reveal(): string {
    if (this.#refused) this.#readAgain()
    return this.#text
  }

  /** The service has refused a key: whether there is another one now. */
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

/** Empty when the file cannot be read or holds no key, as while it is being replaced: it is read again at the next attempt. */
function readKey(file: string): string {
  try {
    const text = readSecretFile(file)
    return isSecretText(text) ? text : ''
  } catch {
    return ''
  }
}
