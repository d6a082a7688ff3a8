import { randomUUID } from 'node:crypto'
import type { Ledger } from '../../src/delivery/ledger.js'
import { LedgerBook } from '../../src/delivery/ledger-book.js'
import type { EndStep } from '../../src/engine/ports.js'
import type { RegisteredEngine } from '../../src/process/registered-engine.js'

/** An engine of the registry without a service: the test decides when it delivers. It notes how it is drained. */
export class FakeEngine implements RegisteredEngine {
  readonly id = randomUUID()
  readonly lanes = [{ kind: 'values' as const, bucket: 'b' }]
  readonly options: RegisteredEngine['options']
  /** Each drain, with its time in milliseconds. */
  readonly drains: (readonly [mode: string, timeoutMs: number | undefined])[] = []
  readonly #book = new LedgerBook(this.lanes)
  readonly #parksElsewhere: boolean
  /** True when a drain delivers everything at once. */
  delivers = false
  closed = false
  isEnding = false

  constructor(options: Partial<RegisteredEngine['options']> = {}, { parksElsewhere = false } = {}) {
    const limits = { maxQueueRecords: 1000, maxQueueBytes: 1_000_000 }
    const others = {
      shutdownTimeoutMs: 1000,
      handleSignals: true,
      debug: false,
      spoolDir: undefined,
    }
    this.options = { ...others, ...limits, ...options }
    this.#parksElsewhere = parksElsewhere
  }

  get memory(): SharedArrayBuffer {
    return this.#book.memory
  }

  stats(): Ledger {
    return this.#book.read()
  }

  accept(count = 1): void {
    for (let left = count; left > 0; left--) this.#book.move(0, 'none', 'queued', 1, 1)
  }

  deliver(): void {
    for (let left = this.stats().queued; left > 0; left--) {
      this.#book.move(0, 'queued', 'inFlight', 1, 0)
      this.#book.move(0, 'inFlight', 'delivered', 1, 1)
    }
  }

  flush(time?: { timeoutMs?: number | undefined }): Promise<Ledger> {
    return this.#drain('flush', time?.timeoutMs)
  }

  park(time?: { timeoutMs?: number | undefined }): Promise<Ledger> {
    return this.#drain('park', time?.timeoutMs)
  }

  close(time?: { timeoutMs?: number | undefined }): Promise<Ledger> {
    this.closed = true
    return this.#drain('close', time?.timeoutMs)
  }

  ending(): void {
    this.isEnding = true
  }

  beforeEnd(): boolean {
    return this.#parksElsewhere
  }

  endSync(time?: { timeoutMs?: number | undefined }): EndStep {
    void this.#drain('endSync', time?.timeoutMs)
    return () => true
  }

  async #drain(mode: string, timeoutMs: number | undefined): Promise<Ledger> {
    this.drains.push([mode, timeoutMs])
    if (this.delivers) this.deliver()
    return this.stats()
  }
}
