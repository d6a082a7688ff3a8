/** Values that fit, a megabyte in all; drained when half full, in a few milliseconds, or when the code that tracks has returned. */
const capacity = 65_536

/** Numbers and times of `track` calls, in memory that is allocated once. */
export class ValueRing {
  #events = new Float64Array(capacity)
  #times = new Float64Array(capacity)
  #length = 0

  get length(): number {
    return this.#length
  }

  /** Whether it is time to drain. */
  get halfFull(): boolean {
    return this.#length >= capacity / 2
  }

  /** False when it is full. */
  push(eventId: number, milliseconds: number): boolean {
    if (this.#length === capacity) return false
    this.#events[this.#length] = eventId
    this.#times[this.#length++] = milliseconds
    return true
  }

  /** Give the memory back; nothing may be pushed any more. */
  release(): void {
    this.#events = new Float64Array(0)
    this.#times = new Float64Array(0)
  }

  /** Visit every value in order, and be empty. */
  drain(visit: (eventId: number, milliseconds: number) => void): void {
    const length = this.#length
    this.#length = 0
    for (let index = 0; index < length; index++) visit(this.#events[index]!, this.#times[index]!)
  }
}
