import type { RecordBatch } from './record-batch.js'
import type { Outcome, Outgoing, OutgoingBatch } from './sender.js'

export interface SentPlan extends Pick<OutgoingBatch, 'kind' | 'bucket' | 'probe' | 'fresh' | 'woken' | 'parted'> {
  readonly settle: (from: number, outcome: Outcome, count: number) => void
  /** Called once: the sender has ended. */
  readonly over: (reason: string) => void
}

/** One send of records, as the sender sees it. */
export class SentRecords implements OutgoingBatch {
  readonly kind: OutgoingBatch['kind']
  readonly bucket: string
  readonly probe: boolean
  readonly fresh: boolean
  readonly woken: () => void
  readonly parted: () => void
  readonly #records: RecordBatch
  readonly #plan: SentPlan
  #isOver = false

  constructor(records: RecordBatch, plan: SentPlan) {
    this.#records = records
    this.#plan = plan
    this.kind = plan.kind
    this.bucket = plan.bucket
    this.probe = plan.probe
    this.fresh = plan.fresh
    this.woken = plan.woken
    this.parted = plan.parted
  }

  get length(): number {
    return this.#records.length
  }

  get mostKeyBytes(): number {
    return this.#records.mostKeyBytes
  }

  bytesOf(index: number): number {
    return this.#records.bytesOf(index)
  }

  copyRun(index: number, count: number, memory: Buffer, at: number): number {
    return this.#records.copyRun(index, count, memory, at)
  }

  writeKey(index: number, memory: Buffer, at: number): number {
    return this.#records.writeKey(index, memory, at)
  }

  isKey(index: number, text: string): boolean {
    return this.#records.isKey(index, text)
  }

  textOf(index: number): Outgoing {
    return this.#records.textOf(index)
  }

  settle(index: number, outcome: Outcome, count = 1): void {
    this.#plan.settle(index, outcome, count)
  }

  done(): void {
    this.end('the sender gave no outcome')
  }

  /** The sender has ended. `reason` is that of records without an outcome. */
  end(reason: string): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#plan.over(reason)
  }
}
