import { isSecretText, type Secret } from './secret.js'
import { readSecretFile } from './secret-file.js'

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
