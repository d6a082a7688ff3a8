import { Batch } from '../../src/delivery/batch.js'
import { LedgerBook } from '../../src/delivery/ledger-book.js'
import { type Backing, noBacking } from '../../src/log/backing.js'
import { KeyWriter } from '../../src/log/idempotency-key.js'
import { MemoryBounds } from '../../src/log/memory-bounds.js'
import { RecordLog } from '../../src/log/record-log.js'
import { gone, type Segment } from '../../src/log/segment.js'

const infinity = Number.POSITIVE_INFINITY

/** A log of one lane, within bounds. */
export class Bench {
  readonly ledger = new LedgerBook([{ kind: 'logs', bucket: 'b' }])
  readonly log: RecordLog
  readonly lost: string[] = []
  #sequence = 0

  constructor(backing: Backing = noBacking, maxQueueBytes = 100_000_000) {
    const bounds = new MemoryBounds({
      limits: { maxQueueRecords: 100_000, maxQueueBytes },
      backing,
      isGated: () => false,
      lost: (lane, reason, count) => this.lost.push(`${count} of ${lane}: ${reason}`),
    })
    this.log = new RecordLog({ lane: 0, severity: 2, ledger: this.ledger, bounds, backing })
  }

  append(body: string, sequence = this.#sequence++, key = ''): void {
    this.log.append({ body, bytes: body.length, key }, sequence, 'none')
  }

  take(most = infinity): Batch {
    const owner = { onSettle() {}, onDone() {} }
    const batch = new Batch({ kind: 'logs', bucket: 'b', keys: new KeyWriter('k'), owner })
    this.log.take(batch, most, infinity)
    return batch
  }

  settle(batch: Batch, index = 0, count = batch.length - index): void {
    for (let each = index; each < index + count; each++) {
      this.log.mark(batch.segments[each]!, batch.indexes[each]!, 1, gone, 'delivered')
    }
  }

  get segments(): Segment[] {
    return [...this.log.segments()]
  }

  get memory(): number {
    return this.segments.reduce((sum, { memory }) => sum + memory.length, 0)
  }
}

export const bodies = (batch: Batch) => Array.from({ length: batch.length }, (_, index) => batch.textOf(index).body)
