import PQueue from 'p-queue'
import { queueMicrotask } from './clock.js'
import type { Lane } from './lane.js'
import type { Pending } from './record-queue.js'

/**
 * Keeps as many connections of a lane busy as its concurrency allows. p-queue runs carriers: each stands for one
 * connection and carries batch after batch until the lane is empty, held, or allowed fewer connections.
 */
export class Dispatcher {
  readonly #lane: Lane
  readonly #carry: (records: Pending[]) => Promise<void>
  readonly #queue = new PQueue({ concurrency: 1 })
  #carriers = 0
  #awake = false

  constructor(lane: Lane, carry: (records: Pending[]) => Promise<void>) {
    this.#lane = lane
    this.#carry = carry
  }

  /** Records have come or the way is free. What arrives in the same turn of the event loop shares the first batch. */
  wake(): void {
    if (this.#awake) return
    this.#awake = true
    queueMicrotask(() => {
      this.#awake = false
      this.#fill()
    })
  }

  #fill(): void {
    const { concurrency, ready } = this.#lane
    const wanted = Math.min(concurrency.connections, this.#carriers + Math.ceil(ready.length / concurrency.depth))
    if (this.#queue.concurrency !== concurrency.connections) this.#queue.concurrency = concurrency.connections
    while (this.#carriers < wanted && this.#maySend()) {
      this.#carriers++
      void this.#queue.add(() => this.#run())
    }
  }

  async #run(): Promise<void> {
    try {
      while (this.#maySend() && this.#carriers <= this.#lane.concurrency.connections) {
        const records = this.#lane.cut(this.#lane.concurrency.depth)
        if (records.length === 0) break
        await this.#carry(records)
        this.#fill()
      }
    } finally {
      this.#carriers--
    }
    if (this.#lane.ready.length > 0) this.wake()
  }

  #maySend(): boolean {
    return this.#lane.hold === undefined && !this.#lane.closed
  }
}
