import { type SharedLevel, sharedLevel } from './shared-level.js'
import { processNow } from './shared-state.js'

/** The level that holds in place of the option `level`, as one thread sees it. Until the first change a look is one plain read of memory. */
export class LevelOverride {
  readonly #shared: SharedLevel
  readonly #now: () => number
  #version = 0
  #level: string | undefined
  #until = Number.POSITIVE_INFINITY

  /** @param now the clock of the changes */
  constructor(shared: SharedLevel, now: () => number) {
    this.#shared = shared
    this.#now = now
  }

  /** Its name; undefined while the option `level` holds. */
  get level(): string | undefined {
    if (this.#shared.glance !== this.#version) this.#renew()
    if (this.#level !== undefined && this.#until !== Number.POSITIVE_INFINITY && this.#now() >= this.#until) {
      this.#level = undefined
    }
    return this.#level
  }

  #renew(): void {
    this.#version = this.#shared.version
    const change = this.#shared.change
    this.#level = change?.level
    this.#until = change?.until ?? Number.POSITIVE_INFINITY
  }
}

let own: LevelOverride | undefined

/** The level of the process that replaces the option `level` now; undefined while the option holds. */
export function overridingLevel(): string | undefined {
  own ??= new LevelOverride(sharedLevel(), processNow)
  return own.level
}
