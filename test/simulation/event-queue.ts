import type { SimulatedThread } from './simulated-thread.js'

/** Something that happens at a moment. */
export interface QueuedEvent {
  /** Changes when the thread cannot run it in time. */
  at: number
  readonly task: () => void
  /** The thread that runs it; undefined for an event of the world. */
  readonly thread: SimulatedThread | undefined
  cancelled: boolean
}

interface Entry {
  readonly at: number
  readonly order: number
  readonly event: QueuedEvent
}

/** Events by time; those of the same moment in the order in which they were added. A binary heap. */
export class EventQueue {
  readonly #heap: Entry[] = []
  #order = 0

  add(event: QueuedEvent): void {
    this.#push({ at: event.at, order: this.#order++, event })
  }

  get first(): QueuedEvent | undefined {
    return this.#heap[0]?.event
  }

  removeFirst(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    let index = 0
    for (;;) {
      let child = 2 * index + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++
      if (!isBefore(heap[child]!, last)) break
      heap[index] = heap[child]!
      index = child
    }
    heap[index] = last
  }

  #push(entry: Entry): void {
    const heap = this.#heap
    let index = heap.push(entry) - 1
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (!isBefore(entry, heap[parent]!)) break
      heap[index] = heap[parent]!
      index = parent
    }
    heap[index] = entry
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}
