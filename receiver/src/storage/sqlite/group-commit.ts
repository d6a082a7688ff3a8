interface Waiting<Item> {
  readonly item: Item
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * Commits together what arrives in one turn of the event loop, or while the commit before runs: a lone record waits for nobody, a
 * busy receiver pays for one commit where it would have paid for hundreds. No timer: a fixed wait would cap a single connection
 * at its inverse.
 */
export class GroupCommit<Item> {
  readonly #commit: (items: readonly Item[]) => Promise<void>
  #waiting: Waiting<Item>[] = []
  #running: Promise<void> | undefined

  constructor(commit: (items: readonly Item[]) => Promise<void>) {
    this.#commit = commit
  }

  /** Resolves after the commit that contains the item. */
  add(item: Item): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject })
      this.#running ??= this.#run()
    })
  }

  /** Resolves when nothing waits. */
  async settled(): Promise<void> {
    await this.#running
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      await new Promise((resolve) => setImmediate(resolve))
      const group = this.#waiting
      this.#waiting = []
      try {
        await this.#commit(group.map(({ item }) => item))
        for (const { resolve } of group) resolve()
      } catch (error) {
        for (const { reject } of group) reject(error)
      }
    }
    this.#running = undefined
  }
}
