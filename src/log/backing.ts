import type { DropReason } from '../delivery/ledger.js'
import type { Rejection } from '../delivery/rules.js'
import type { Ref, Segment, SegmentFile } from './segment.js'

/**
 * The port to a spool, which puts files behind the segments of the logs. Lanes are named by their index. Implementations never throw.
 */
export interface Backing {
  /** True while the disk takes records, as far as is known. */
  readonly takes: boolean
  /** A file for a segment, which may have records already. Undefined when the disk takes nothing now. */
  open(segment: Segment): SegmentFile | undefined
  /**
   * Write all that was appended to segments with a file: from `committed` to `count`, and none that are gone. `SegmentLog.written` says so
   * of each segment, `SegmentLog.seal` ends one whose file takes no more.
   */
  commit(): void
  /** The service refused a record: it goes to the dead letters. Called before it is gone. `body` is its JSON. */
  rejected(
    lane: number,
    letter: { readonly ref: Ref; readonly body: string; readonly key: string; readonly rejection: Rejection },
  ): void
  /** Why a record is dropped that finds no room in memory. */
  readonly lossReason: DropReason
}

/** Records are in memory alone. */
export const noBacking: Backing = {
  takes: false,
  open: () => undefined,
  commit() {},
  rejected() {},
  lossReason: 'queue-full',
}
