interface Waiting<Item> {
  readonly item: Item
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** So many commits are asked for at once: while one runs, the next is at hand, and the store does not wait for who answers. */
const maxCommits = 2

/**
 * Commits together what arrives in one turn of the event loop, or while the commits before run: a lone record waits for nobody, a
 * busy receiver pays for one commit where it would have paid for hundreds. No timer: a fixed wait would cap a single connection
 * at its inverse.
 */
export class GroupCommit<Item> {
  readonly #commit: (items: readonly Item[]) => Promise<void>
  #waiting: Waiting<Item>[] = []
  #isTurnAwaited = false
  #commits = 0
  #settling: (() => void)[] = []

  constructor(commit: (items: readonly Item[]) => Promise<void>) {
    this.#commit = commit
  }

  /** Resolves after the commit that contains the item. */
  add(item: Item): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject })
      if (this.#isTurnAwaited || this.#commits >= maxCommits) return
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
    if (this.#waiting.length > 0 && this.#commits < maxCommits) void this.#run(this.#waiting.splice(0))
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
    // Those who wait go first, those who are answered second: the store need not wait for the answers.
    this.#begin()
    for (const { resolve, reject } of group) {
      if (failure === undefined) resolve()
      else reject(failure.error)
    }
    if (this.#waiting.length > 0 || this.#commits > 0) return
    for (const resolve of this.#settling.splice(0)) resolve()
  }
}
