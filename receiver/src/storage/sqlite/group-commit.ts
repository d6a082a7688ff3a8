interface Waiting<Item> {
  readonly item: Item
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * Commits together what arrives in one turn of the event loop: a lone record waits for nobody, a busy receiver pays for one
 * commit where it would have paid for hundreds. No timer: a fixed wait would cap a single connection at its inverse.
 */
export class GroupCommit<Item> {
  readonly #commit: (items: readonly Item[]) => void
  #waiting: Waiting<Item>[] = []
  #idle: Promise<void> = Promise.resolve()

  constructor(commit: (items: readonly Item[]) => void) {
    this.#commit = commit
  }

  /** Resolves after the commit that contains the item. */
  add(item: Item): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject })
      if (this.#waiting.length > 1) return
      this.#idle = new Promise((done) => {
        setImmediate(() => {
          this.#flush()
          done()
        })
      })
    })
  }

  /** Resolves when nothing waits. */
  async settled(): Promise<void> {
    await this.#idle
  }

  #flush(): void {
    const group = this.#waiting
    this.#waiting = []
    try {
      this.#commit(group.map(({ item }) => item))
    } catch (error) {
      for (const { reject } of group) reject(error)
      return
    }
    for (const { resolve } of group) resolve()
  }
}
