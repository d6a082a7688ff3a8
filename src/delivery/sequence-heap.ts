/** An item with a place in an order, which remembers its place in a heap. */
export interface Sequenced {
  readonly sequence: number
  /** Index in its heap; -1 outside. */
  heapIndex: number
}

/** A binary heap with the smallest sequence first, from which any item can be removed. Each operation costs O(log n). */
export class SequenceHeap<Item extends Sequenced> {
  readonly #items: Item[] = []

  /** All items, in no order. */
  get items(): readonly Item[] {
    return this.#items
  }

  get first(): Item | undefined {
    return this.#items[0]
  }

  add(item: Item): void {
    this.#items.push(item)
    this.#rise(item, this.#items.length - 1)
  }

  remove(item: Item): void {
    const index = item.heapIndex
    const last = this.#items.pop()!
    item.heapIndex = -1
    if (last === item) return
    this.#rise(last, index)
    this.#sink(last, last.heapIndex)
  }

  #rise(item: Item, from: number): void {
    let index = from
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (this.#items[parent]!.sequence <= item.sequence) break
      this.#place(this.#items[parent]!, index)
      index = parent
    }
    this.#place(item, index)
  }

  #sink(item: Item, from: number): void {
    let index = from
    for (;;) {
      let child = 2 * index + 1
      if (child >= this.#items.length) break
      if (child + 1 < this.#items.length && this.#items[child + 1]!.sequence < this.#items[child]!.sequence) child++
      if (this.#items[child]!.sequence >= item.sequence) break
      this.#place(this.#items[child]!, index)
      index = child
    }
    this.#place(item, index)
  }

  #place(item: Item, index: number): void {
    this.#items[index] = item
    item.heapIndex = index
  }
}
