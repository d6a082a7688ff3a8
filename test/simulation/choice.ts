/** Chooses at random. */
export class Choice {
  readonly #random: () => number

  /** @param random uniform in [0, 1) */
  constructor(random: () => number) {
    this.#random = random
  }

  /** True with this probability. */
  chance(probability: number): boolean {
    return this.#random() < probability
  }

  /** A whole number from 0 to below `end`. */
  below(end: number): number {
    return Math.floor(this.#random() * end)
  }

  /** A whole number, both ends included. */
  between(first: number, last: number): number {
    return first + this.below(last - first + 1)
  }

  /** A number with a fraction. */
  real(from: number, to: number): number {
    return from + this.#random() * (to - from)
  }

  oneOf<Value>(values: readonly Value[]): Value {
    return values[this.below(values.length)]!
  }
}
