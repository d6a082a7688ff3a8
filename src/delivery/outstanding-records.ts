import type { Generation, Pending } from './record-queue.js'

/** The records of a lane that are not settled, by the drains that wait for them. */
export class OutstandingRecords {
  readonly #generations: Generation[] = [{ number: 0, outstanding: 0 }]
  readonly #settled: () => void
  #parked = 0

  /** @param settled called when a drain may have no more to wait for */
  constructor(settled: () => void) {
    this.#settled = settled
  }

  /** Records that are in the store alone, and were accepted by this process. */
  get parked(): number {
    return this.#parked
  }

  /** Records that are accepted now belong to this generation. */
  get newest(): Generation {
    return this.#generations.at(-1)!
  }

  /** The next drain waits for this generation first. Records that come back from the store join it: they were accepted long before. */
  get oldest(): Generation {
    return this.#generations[0]!
  }

  /** Begin a new generation. Returns the number of the last one before it. */
  turn(): number {
    const { number, outstanding } = this.newest
    if (outstanding === 0 && this.#parked === 0) return number - 1
    this.#generations.push({ number: number + 1, outstanding: 0 })
    return number
  }

  /** Records of the generations up to `number`. */
  through(number: number): number {
    while (this.#generations.length > 1 && this.oldest.outstanding === 0) this.#generations.shift()
    let sum = this.#parked
    for (const generation of this.#generations) if (generation.number <= number) sum += generation.outstanding
    return sum
  }

  /** A record has come into memory. */
  took({ generation }: Pending): void {
    generation.outstanding++
  }

  /** A record has left memory. */
  letGo({ generation }: Pending): void {
    generation.outstanding--
    if (generation.outstanding === 0) this.#settled()
  }

  /** A record is in the store alone. */
  park(): void {
    this.#parked++
  }

  /** Parked records have come back into memory. */
  unpark(count: number): void {
    this.#parked -= count
  }

  /** Parked records are lost. */
  lose(count: number): void {
    this.#parked -= count
    this.#settled()
  }
}
