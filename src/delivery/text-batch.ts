import type { RecordKind } from '../records/wire.js'
import type { Outcome, Outgoing, OutgoingBatch, UsableConnection } from './sender.js'

export interface TextBatchPlan {
  readonly kind: RecordKind
  readonly bucket: string
  readonly records: readonly Outgoing[]
  /** @default false */
  readonly probe?: boolean
  /** @default any */
  readonly connection?: UsableConnection
  readonly settle: (index: number, outcome: Outcome, count?: number) => void
  /** @default nothing */
  readonly done?: () => void
}

/** A batch of records whose bodies are text, for a few records without a delivery. */
export class TextBatch implements OutgoingBatch {
  readonly kind: RecordKind
  readonly bucket: string
  readonly probe: boolean
  readonly connection: UsableConnection
  readonly mostKeyBytes: number
  readonly #plan: TextBatchPlan

  constructor(plan: TextBatchPlan) {
    this.#plan = plan
    this.kind = plan.kind
    this.bucket = plan.bucket
    this.probe = plan.probe ?? false
    this.connection = plan.connection ?? 'any'
    this.mostKeyBytes = Math.max(0, ...plan.records.map(({ idempotencyKey }) => idempotencyKey.length))
  }

  get length(): number {
    return this.#plan.records.length
  }

  bytesOf(index: number): number {
    return this.textOf(index).bytes
  }

  copyRun(index: number, count: number, memory: Buffer, at: number): number {
    let end = at
    for (const { body } of this.#plan.records.slice(index, index + count)) end += memory.write(body, end)
    return end
  }

  writeKey(index: number, memory: Buffer, at: number): number {
    return at + memory.write(this.textOf(index).idempotencyKey, at, 'latin1')
  }

  isKey(index: number, text: string): boolean {
    return this.textOf(index).idempotencyKey === text
  }

  textOf(index: number): Outgoing {
    return this.#plan.records[index]!
  }

  woken(): void {}

  begin(): boolean {
    return true
  }

  parted(): void {}

  settle(index: number, outcome: Outcome, count?: number): void {
    this.#plan.settle(index, outcome, count)
  }

  done(): void {
    this.#plan.done?.()
  }
}
