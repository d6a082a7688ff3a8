/** Reasons may quote the record, so their number is bounded. */
const maxReasons = 20

/** Counts rejected records by the reason that the service gave. */
export class Rejections {
  readonly #counts = new Map<string, number>()

  add(reason: string): void {
    const known = this.#counts.has(reason) || this.#counts.size < maxReasons ? reason : 'other reasons'
    this.#counts.set(known, (this.#counts.get(known) ?? 0) + 1)
  }

  get total(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0)
  }

  /** For a person, one line for each reason. */
  get lines(): string[] {
    return [...this.#counts].map(([reason, count]) => `  ${count} × ${reason}`)
  }

  /** For a script. */
  get list(): { readonly reason: string; readonly count: number }[] {
    return [...this.#counts].map(([reason, count]) => ({ reason, count }))
  }
}
