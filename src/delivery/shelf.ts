import type { Severity } from '../records/level.js'
import type { DelayedRecords } from './delayed-records.js'
import type { Probes } from './probes.js'
import type { ReadyRecords } from './ready-records.js'
import type { HeldRecord, Pending, RecordQueue } from './record-queue.js'
import type { Suspects } from './suspects.js'

/** A place in a lane from which a record can be taken out. */
export interface Shelf {
  /** Its records go first when memory is full. */
  readonly suspects: boolean
  readonly length: number
  lengthOf(severity: Severity): number
  bytesOf(severity: Severity): number
  /** Sequence of the oldest record of a severity; infinity without one. */
  oldestOf(severity: Severity): number
  /** Take that record. The result is valid until the next record is added. */
  takeOldestOf(severity: Severity): HeldRecord
}

interface Places {
  readonly ready: ReadyRecords
  readonly probes: Probes
  readonly delayed: DelayedRecords
  readonly suspects: Suspects
}

/** All places of the records of a lane, except those in flight. */
export function shelvesOf({ ready, probes, delayed, suspects }: Places): readonly Shelf[] {
  return [
    {
      suspects: false,
      get length() {
        return ready.length
      },
      lengthOf: (severity) => ready.lengthOf(severity),
      bytesOf: (severity) => ready.bytesOf(severity),
      oldestOf: (severity) => ready.oldestOf(severity),
      takeOldestOf: (severity) => ready.takeOldestOf(severity)!,
    },
    shelfOf(probes.tried, { remove: (record) => probes.tried.remove(record) }),
    shelfOf(delayed.queue, { remove: (record) => delayed.remove(record) }),
    shelfOf(suspects.waiting.queue, { remove: (record) => suspects.waiting.remove(record), suspects: true }),
    shelfOf(suspects.fresh, { remove: (record) => suspects.fresh.remove(record), suspects: true }),
    shelfOf(suspects.known, { remove: (record) => suspects.removeKnown(record), suspects: true }),
  ]
}

/** A queue as a place from which records are shed. `remove` takes one of its records out. */
export function shelfOf(
  queue: RecordQueue,
  { remove, suspects = false }: { readonly remove: (record: Pending) => void; readonly suspects?: boolean },
): Shelf {
  return {
    suspects,
    get length() {
      return queue.length
    },
    lengthOf: (severity) => queue.lengthOf(severity),
    bytesOf: (severity) => queue.bytesOf(severity),
    oldestOf: (severity) => queue.oldestOf(severity)?.sequence ?? Number.POSITIVE_INFINITY,
    takeOldestOf: (severity) => {
      const record = queue.oldestOf(severity)!
      remove(record)
      return record
    },
  }
}
