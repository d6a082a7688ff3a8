import type { RecordKind } from '../records/wire.js'
import type { SenderName } from './sender.js'

export const dropReasons = [
  'queue-full',
  'hand-off-full',
  'spool-full',
  'too-old',
  'closed',
  'shutdown',
  'unreadable',
  'worker-failed',
] as const

/** The reason why a record was given up. `unreadable`: the delivery worker died of the line. */
export type DropReason = (typeof dropReasons)[number]

export const suppressReasons = ['sampled', 'unneeded'] as const

/** The reason why a log record was left out as configured: by the option `sample` or `keepForError`. */
export type SuppressReason = (typeof suppressReasons)[number]

/**
 * Counts that must always add up:
 * `accepted = delivered + rejected + (sum of dropped) + (sum of suppressed) + spooled + queued + inFlight`.
 */
export interface Counts {
  /** Records for which `log` or `track` has returned. */
  readonly accepted: number
  /** Records that the service has taken. */
  readonly delivered: number
  /** Records that the service refused for their content. */
  readonly rejected: number
  /** Records that were given up, by reason. */
  readonly dropped: Readonly<Record<DropReason, number>>
  /** Log records that were left out as configured, by reason. Of these, an error may still need `keptForError`. */
  readonly suppressed: Readonly<Record<SuppressReason, number>>
  /** Records that are on disk alone, until they are sent or the next process finds them. */
  readonly spooled: number
  /** Records that wait to be sent. */
  readonly queued: number
  /** Records that are sent and not answered yet. */
  readonly inFlight: number
  /** Attempts after the first. */
  readonly retries: number
  /**
   * Requests that were written and never answered, or answered by a gateway that got no answer (502, 504, 520 to 527). Their records were sent again, and may be at the service twice; or they were given up at
   * the end, and may have arrived.
   */
  readonly ambiguousRetries: number
  /** Requests handed to the sender. */
  readonly requests: number
  /** Bytes of the records in memory, queued and in flight. */
  readonly heldBytes: number
  /** Bytes of the records that were delivered. */
  readonly deliveredBytes: number
  /** Accepted records that were found on disk, where a process that is gone had left them. They count from the moment they are found. */
  readonly adopted: number
  /** Log records in which something was hidden: see the option `redact`. They are in the other counts, too. */
  readonly redacted: number
  /** Log records that are kept in case an error comes: see the option `keepForError`. They count as `suppressed.unneeded` until then. */
  readonly keptForError: number
}

/**
 * `open`: records go out as they come. `outage`: the service is out of reach or fails, one probe at a time goes out. `paused`: the
 * service refuses the key, the bucket or the plan; records are kept, and one probe goes out after `probeBaseMs`, doubling to
 * `probeCapMs`. `closed`: no more records are taken.
 */
export type LaneState = 'open' | 'outage' | 'paused' | 'closed'

/** How a lane sends now. */
export interface LaneCondition {
  /** `open` while it sends, else the reason why it does not. */
  readonly state: LaneState
  /** `undici`, one request after another on each connection, or `pipelined`; see the option `pipelining`. */
  readonly sender: SenderName
  /** Connections that it may use now, 1 to `maxConnections`. The number adapts to the service, and begins at 1 again after an outage. */
  readonly connections: number
  /** Records per batch on each of them now, 1 to `maxBatch`; 1 where nothing is pipelined. */
  readonly depth: number
}

/** One lane in the ledger. */
export interface LaneReport extends Counts, LaneCondition {
  /** Log records or value records. */
  readonly kind: RecordKind
  /** Where they go. */
  readonly bucket: string
  /** The last failure, in words; undefined before the first one. It stays when records are delivered again. */
  readonly lastError: string | undefined
}

/** The counts of all lanes together, and of each. */
export interface Ledger extends Counts {
  /** `track` calls with a bad number, time or key. They are outside the equation: they never became records. */
  readonly invalid: number
  /** Each lane of each engine. */
  readonly lanes: readonly LaneReport[]
}

/** The counts that are single numbers. */
export const plainCounts = [
  'accepted',
  'delivered',
  'rejected',
  'spooled',
  'queued',
  'inFlight',
  'retries',
  'ambiguousRetries',
  'requests',
  'heldBytes',
  'deliveredBytes',
  'adopted',
  'redacted',
  'keptForError',
] as const
export type PlainCount = (typeof plainCounts)[number]

/** The ledger of no lane at all. */
export const emptyLedger: Ledger = sumLedger([], 0)

/** Add up the lanes of one or more ledgers. */
export function sumLedger(lanes: readonly LaneReport[], invalid: number): Ledger {
  const total = (read: (lane: LaneReport) => number) => lanes.reduce((sum, lane) => sum + read(lane), 0)
  const counts = Object.fromEntries(plainCounts.map((name) => [name, total((lane) => lane[name])]))
  return {
    ...(counts as Record<PlainCount, number>),
    dropped: byReason(dropReasons, (reason) => total((lane) => lane.dropped[reason])),
    suppressed: byReason(suppressReasons, (reason) => total((lane) => lane.suppressed[reason])),
    invalid,
    lanes,
  }
}

/** A count for each reason. */
export function byReason<Reason extends string>(
  reasons: readonly Reason[],
  count: (reason: Reason) => number,
): Readonly<Record<Reason, number>> {
  return Object.fromEntries(reasons.map((reason) => [reason, count(reason)])) as Record<Reason, number>
}

/** The store of a lane whose engine is gone: `spools` where it keeps records, `onDisk` the records in memory that are on disk, too. */
interface Remains {
  readonly spools: boolean
  readonly onDisk: number
}

/** The report of a lane whose engine is gone: its records are lost, except those on disk. */
export function givenUp(lane: LaneReport, remains: Remains): LaneReport {
  const { lost, spooled } = fateOf(lane, remains)
  const dropped = { ...lane.dropped, shutdown: lane.dropped.shutdown + lost }
  return { ...lane, queued: 0, inFlight: 0, keptForError: 0, state: 'closed', spooled: lane.spooled + spooled, dropped }
}

/** How many of the records in memory of a lane are lost and how many are on disk, after its engine is gone. */
export function fateOf(
  lane: LaneReport,
  { spools, onDisk }: Remains,
): { readonly lost: number; readonly spooled: number } {
  const held = unsettled(lane)
  const spooled = spools ? Math.min(held, onDisk) : 0
  return { lost: held - spooled, spooled }
}

/**
 * Records that an engine had in memory when its thread ended. They are derived from the accepted records: a thread that ends in the
 * middle of a change leaves `queued` or `inFlight` wrong.
 */
export function unsettled(lane: Settled & Pick<Counts, 'accepted' | 'spooled'>): number {
  return lane.accepted - settledTotal(lane) - lane.spooled
}

type Settled = Pick<Counts, 'delivered' | 'rejected' | 'dropped' | 'suppressed'>

/** Records that nothing more happens to. */
export function settledTotal(counts: Settled): number {
  return counts.delivered + counts.rejected + droppedTotal(counts) + suppressedTotal(counts)
}

/** Records given up, for any reason. */
export function droppedTotal({ dropped }: Pick<Counts, 'dropped'>): number {
  return dropReasons.reduce((sum, reason) => sum + dropped[reason], 0)
}

/** Records left out as configured, for any reason. */
export function suppressedTotal({ suppressed }: Pick<Counts, 'suppressed'>): number {
  return suppressReasons.reduce((sum, reason) => sum + suppressed[reason], 0)
}

/** The name of a lane. */
export interface LaneName {
  readonly kind: RecordKind
  readonly bucket: string
}
