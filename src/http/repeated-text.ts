/** The text is held so often, at most, that it takes this many characters. */
const mostHeld = 65_536

/**
 * Counts how often one text stands behind itself, with one comparison for many. Where a comparison fails, smaller ones follow: the time
 * stays linear in the text that is compared.
 */
export class RepeatedText {
  #once = ''
  /** The text, one or several times. */
  #held = ''

  get length(): number {
    return this.#once.length
  }

  set(text: string): void {
    this.#once = text
    this.#held = text
  }

  /** How often it stands in `text` from `at` on: `most` times at most. */
  countIn(text: string, { at, most }: { readonly at: number; readonly most: number }): number {
    const { length } = this.#once
    const possible = Math.min(most, Math.floor((text.length - at) / length))
    const mostAtOnce = Math.max(1, Math.floor(mostHeld / length))
    let count = 0
    let tried = this.#held.length / length
    while (count < possible) {
      const times = Math.min(tried, mostAtOnce, possible - count)
      const from = at + count * length
      if (text.slice(from, from + times * length) === this.#times(times)) {
        count += times
        tried = 2 * times
      } else if (times > 1) tried = 1
      else break
    }
    return count
  }

  #times(times: number): string {
    const length = times * this.#once.length
    while (this.#held.length < length) this.#held += this.#held
    return this.#held.slice(0, length)
  }
}
