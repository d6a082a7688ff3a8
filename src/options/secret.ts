import { inspect } from 'node:util'

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
