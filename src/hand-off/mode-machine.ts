/** The mode of a life cycle. {@link enter} is the only way to change it. */
export class ModeMachine<Mode extends string> {
  #now: Mode
  readonly #next: Readonly<Record<Mode, readonly Mode[]>>

  /** @param next the modes that each mode leads to */
  constructor(first: Mode, next: Readonly<Record<Mode, readonly Mode[]>>) {
    this.#now = first
    this.#next = next
  }

  get now(): Mode {
    return this.#now
  }

  /** Change the mode. False, and no effect, where the present mode does not lead there. */
  enter(mode: Mode): boolean {
    if (!this.#next[this.#now].includes(mode)) return false
    this.#now = mode
    return true
  }
}
