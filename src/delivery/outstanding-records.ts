import type { RecordBatch } from './record-batch.js'

/** Records that were accepted between two drains. A drain waits for its own generations and for none that come after. */
interface Generation {
  readonly number: number
  outstanding: number
}

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

  /** Number of the generation of records that are accepted now. */
  get newest(): number {
    return this.#generations[this.#generations.length - 1]!.number
  }

  /**
   * Number of the generation for which the next drain waits first. Records that come back from the store join it: they were accepted long
   * before.
   */
  get oldest(): number {
    return this.#generations[0]!.number
  }

  /** Begin a new generation. Returns the number of the last one before it. */
  turn(): number {
    const { number, outstanding } = this.#generations.at(-1)!
    if (outstanding === 0 && this.#parked === 0) return number - 1
    this.#generations.push({ number: number + 1, outstanding: 0 })
    return number
  }

  /** Records of the generations up to `number`. */
  through(number: number): number {
    while (this.#generations.length > 1 && this.#generations[0]!.outstanding === 0) this.#generations.shift()
    let sum = this.#parked
    for (const generation of this.#generations) if (generation.number <= number) sum += generation.outstanding
    return sum
  }

  /** A record has come into memory. */
  took(generation: number): void {
    this.#numbered(generation).outstanding++
  }

  /** Records of one generation have left memory. */
  letGo(generation: number, count = 1): void {
    const of = this.#numbered(generation)
    of.outstanding -= count
    if (of.outstanding === 0) this.#settled()
  }

  /** `count` records of a batch have left memory, from the one at `from` on. */
  letGoAll(batch: RecordBatch, from: number, count: number): void {
    const end = from + count
    for (let index = from; index < end; ) {
      const generation = batch.generationOf(index)
      const first = index
      while (index < end && batch.generationOf(index) === generation) index++
      this.letGo(generation, index - first)
    }
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

  #numbered(number: number): Generation {
    return this.#generations[number - this.#generations[0]!.number]!
  }
}
