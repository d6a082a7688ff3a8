/** Something that happens at a moment. */
export interface Timed {
  readonly at: number
}

interface Entry<Item> {
  readonly at: number
  readonly order: number
  readonly item: Item
}

/** Items by time, the earliest first; those of the same moment in the order in which they were added. A binary heap. */
export class TimeHeap<Item extends Timed> {
  readonly #entries: Entry<Item>[] = []
  #order = 0

  get first(): Item | undefined {
    return this.#entries[0]?.item
  }

  add(item: Item): void {
    const entries = this.#entries
    const entry = { at: item.at, order: this.#order++, item }
    let index = entries.push(entry) - 1
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (!isBefore(entry, entries[parent]!)) break
      entries[index] = entries[parent]!
      index = parent
    }
    entries[index] = entry
  }

  removeFirst(): void {
    const entries = this.#entries
    const last = entries.pop()
    if (last === undefined || entries.length === 0) return
    let index = 0
    for (;;) {
      let child = 2 * index + 1
      if (child >= entries.length) break
      if (child + 1 < entries.length && isBefore(entries[child + 1]!, entries[child]!)) child++
      if (!isBefore(entries[child]!, last)) break
      entries[index] = entries[child]!
      index = child
    }
    entries[index] = last
  }
}

function isBefore(a: Entry<unknown>, b: Entry<unknown>): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}
