import { Batch, maxBatch } from '../../src/delivery/batch.js'
import type { DropReason } from '../../src/delivery/ledger.js'
import { LedgerBook } from '../../src/delivery/ledger-book.js'
import type { Backing } from '../../src/log/backing.js'
import type { KeyWriter } from '../../src/log/idempotency-key.js'
import { MemoryBounds } from '../../src/log/memory-bounds.js'
import { RecordLog } from '../../src/log/record-log.js'
import { gone, inFlight, type Ref, ready } from '../../src/log/segment.js'
import type { Severity } from '../../src/records/level.js'
import type { SpoolOwner } from '../../src/spool/left-records.js'

export const lanes = [
  { kind: 'logs', bucket: 'b' },
  { kind: 'values', bucket: 'b' },
] as const

/** A record that was read, and its place. */
export interface Read {
  readonly ref: Ref
  readonly message: string
  readonly key: string
}

/** In place of a delivery: the logs of an engine over a backing, for its own records and for those of dead engines. */
export class Logs implements SpoolOwner {
  readonly ledger = new LedgerBook(lanes)
  /** Losses in their order. */
  readonly lost: { readonly reason: DropReason; readonly count: number }[] = []
  /** The lanes that got records of dead engines, as often as they got some. */
  readonly adoptions: number[] = []
  readonly #backing: Backing
  readonly #keys: KeyWriter
  readonly #bounds: MemoryBounds
  readonly #own = new Map<string, RecordLog>()
  readonly #adopted = new Map<string, RecordLog>()
  #sequence = 0

  constructor(backing: Backing, { keys, maxQueueBytes = 64_000_000 }: { keys: KeyWriter; maxQueueBytes?: number }) {
    this.#backing = backing
    this.#keys = keys
    this.#bounds = new MemoryBounds({
      limits: { maxQueueRecords: 100_000, maxQueueBytes },
      backing,
      isGated: () => false,
      lost: (_lane, reason, count) => void this.lost.push({ reason, count }),
    })
  }

  /** Accept a record with such a text. */
  keep(message: string, { severity = 2, key = '' }: { severity?: Severity; key?: string } = {}): Ref {
    const body = JSON.stringify({ message })
    const bytes = Buffer.byteLength(body)
    const log = this.#logOf(this.#own, severity === 6 ? 1 : 0, severity)
    this.#bounds.makeRoom({ severity, bytes: bytes + key.length })
    log.append({ body, bytes, key }, this.#sequence++, 'none')
    const segment = [...log.segments()].at(-1)!
    return { segment, index: segment.count - 1 }
  }

  /** The log for records of a lane that dead engines have left. */
  adoptedLog(lane: number, severity: Severity): RecordLog {
    return this.#logOf(this.#adopted, lane, severity)
  }

  adopted(lane: number): void {
    this.adoptions.push(lane)
  }

  /** The service has taken a record. */
  settle({ segment, index }: Ref): void {
    const { log } = segment
    if (segment.states[index] !== inFlight) log.mark(segment, index, 1, inFlight)
    log.mark(segment, index, 1, gone, 'delivered')
  }

  /** The service has not taken a record that was sent. */
  fail({ segment, index }: Ref): void {
    segment.log.mark(segment, index, 1, ready)
  }

  /** All records leave memory that can. */
  evict(): void {
    for (const log of this.#own.values()) for (const segment of log.segments()) log.evict(segment)
  }

  /** Take the records that are ready, and read those that are on disk alone. Those that cannot be read now stay ready. */
  read(which: 'own' | 'adopted', most = Number.POSITIVE_INFINITY): Read[] {
    const found: Read[] = []
    for (const log of which === 'own' ? this.#own.values() : this.#adopted.values()) {
      while (log.ready > 0 && found.length < most) {
        const batch = new Batch({
          ...lanes[log.lane]!,
          keys: this.#keys,
          owner: { onSettle: () => {}, onDone: () => {} },
        })
        log.take(batch, Math.min(maxBatch, most - found.length), Number.POSITIVE_INFINITY)
        const refs = batch.segments.map((segment, index) => ({ segment, index: batch.indexes[index]! }))
        if (batch.load() === 'later') {
          for (const { segment, index } of refs) log.mark(segment, index, 1, ready)
          break
        }
        for (let index = 0; index < batch.length; index++) {
          const { body, idempotencyKey } = batch.textOf(index)
          const ref = { segment: batch.segments[index]!, index: batch.indexes[index]! }
          found.push({ ref, message: JSON.parse(body).message, key: idempotencyKey })
        }
      }
    }
    return found
  }

  #logOf(logs: Map<string, RecordLog>, lane: number, severity: Severity): RecordLog {
    const name = `${lane} ${severity}`
    const known = logs.get(name)
    if (known !== undefined) return known
    const log = new RecordLog({ lane, severity, ledger: this.ledger, bounds: this.#bounds, backing: this.#backing })
    logs.set(name, log)
    return log
  }
}

export function isOnDisk({ segment, index }: Ref): boolean {
  return segment.states[index] !== gone && index < segment.committed
}
