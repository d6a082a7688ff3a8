interface Waiting<Item> {
  readonly item: Item
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * Groups the items that arrive in one turn of the event loop, or while earlier commits run, into one commit. A single record does not wait;
 * a busy receiver pays for one commit instead of hundreds. There is no timer: a fixed wait of 20 ms would limit one connection to 50
 * requests/s.
 */
export class GroupCommit<Item> {
  readonly #commit: (items: readonly Item[]) => Promise<void>
  readonly #maxCommits: number
  readonly #maxItems: number
  readonly #sizeOf: (item: Item) => number
  readonly #maxSize: number
  #waiting: Waiting<Item>[] = []
  #isTurnAwaited = false
  #commits = 0
  #settling: (() => void)[] = []

  /**
   * @param maxCommits commits that may be requested at once. With two, the store starts the second while the HTTP thread still answers for the
   *   first.
   * @param maxItems most items of a commit
   * @param sizeOf size of an item, in any unit
   * @param maxSize largest size of a commit of several items, in the same unit
   */
  constructor(
    commit: (items: readonly Item[]) => Promise<void>,
    {
      maxCommits = 2,
      maxItems = Number.POSITIVE_INFINITY,
      sizeOf = () => 0,
      maxSize = Number.POSITIVE_INFINITY,
    }: { maxCommits?: number; maxItems?: number; sizeOf?: (item: Item) => number; maxSize?: number } = {},
  ) {
    this.#commit = commit
    this.#maxCommits = maxCommits
    this.#maxItems = maxItems
    this.#sizeOf = sizeOf
    this.#maxSize = maxSize
  }

  /** Resolves after the commit that contains the item. */
  add(item: Item): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject })
      if (this.#isTurnAwaited || this.#commits >= this.#maxCommits) return
      this.#isTurnAwaited = true
      setImmediate(() => {
        this.#isTurnAwaited = false
        this.#begin()
      })
    })
  }

  /** Resolves when nothing waits. */
  async settled(): Promise<void> {
    if (this.#waiting.length === 0 && this.#commits === 0) return
    await new Promise<void>((resolve) => this.#settling.push(resolve))
  }

  #begin(): void {
    while (this.#waiting.length > 0 && this.#commits < this.#maxCommits) {
      void this.#run(this.#waiting.splice(0, this.#fitting()))
    }
  }

  /** How many of the first items make the next commit. */
  #fitting(): number {
    let size = 0
    let items = 0
    for (const { item } of this.#waiting) {
      size += this.#sizeOf(item)
      if (items === this.#maxItems || (items > 0 && size > this.#maxSize)) break
      items++
    }
    return items
  }

  async #run(group: readonly Waiting<Item>[]): Promise<void> {
    let failure: { readonly error: unknown } | undefined
    this.#commits++
    try {
      await this.#commit(group.map(({ item }) => item))
    } catch (error) {
      failure = { error }
    }
    this.#commits--
    // The next group starts before the answers of this one are written, so that the store does not wait for them.
    this.#begin()
    for (const { resolve, reject } of group) {
      if (failure === undefined) resolve()
      else reject(failure.error)
    }
    if (this.#waiting.length > 0 || this.#commits > 0) return
    for (const resolve of this.#settling.splice(0)) resolve()
  }
}
