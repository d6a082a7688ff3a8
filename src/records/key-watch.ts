import { standsAt } from './plain-bytes.js'
import type { Redactor } from './redactor.js'
import { type HiddenKeys, hashOf } from './seen-keys.js'

interface Decision {
  readonly id: number
  readonly bytes: Uint8Array
  readonly hides: boolean
}

/** Tells by the bytes of a key if its value is hidden, and remembers the decision: lines have the same keys again and again. */
export class KeyWatch implements HiddenKeys {
  readonly #redactor: Redactor
  readonly #decisions = new Array<Decision | undefined>(256).fill(undefined)

  constructor(redactor: Redactor) {
    this.#redactor = redactor
  }

  hides(id: number, bytes: Buffer, start: number, end: number): boolean {
    const place = hashOf(id)
    const last = this.#decisions[place]
    if (last !== undefined && last.id === id && standsAt(bytes, start, last.bytes)) return last.hides
    const hides = this.#redactor.hides(bytes.toString('utf8', start, end))
    this.#decisions[place] = { id, bytes: Uint8Array.from(bytes.subarray(start, end)), hides }
    return hides
  }
}
