/** Values that fit, a megabyte in all; drained when half full, in a few milliseconds, or when the code that tracks has returned. */
const maxCapacity = 65_536
/** Most engines never track so many values in one turn. */
const firstCapacity = 256

/** Numbers and times of `track` calls, in memory that grows with the longest turn so far and is allocated no more after that. */
export class ValueRing {
  #capacity = 0
  #events = new Float64Array(0)
  #times = new Float64Array(0)
  #length = 0

  get length(): number {
    return this.#length
  }

  /** Whether it is time to drain. */
  get halfFull(): boolean {
    return this.#length >= maxCapacity / 2
  }

  /** False when it is full. */
  push(eventId: number, milliseconds: number): boolean {
    if (this.#length === this.#capacity && !this.#grow()) return false
    this.#events[this.#length] = eventId
    this.#times[this.#length++] = milliseconds
    return true
  }

  /** Give the memory back; more is taken when something is pushed. */
  release(): void {
    this.#capacity = 0
    this.#events = new Float64Array(0)
    this.#times = new Float64Array(0)
  }

  /** False when it cannot. */
  #grow(): boolean {
    if (this.#capacity === maxCapacity) return false
    this.#capacity = Math.min(maxCapacity, Math.max(firstCapacity, this.#capacity * 4))
    this.#events = grown(this.#events, this.#capacity)
    this.#times = grown(this.#times, this.#capacity)
    return true
  }

  /** Visit every value in order, and be empty. */
  drain(visit: (eventId: number, milliseconds: number) => void): void {
    const length = this.#length
    this.#length = 0
    for (let index = 0; index < length; index++) visit(this.#events[index]!, this.#times[index]!)
  }
}

function grown(numbers: Float64Array, capacity: number): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(capacity)
  larger.set(numbers)
  return larger
}
