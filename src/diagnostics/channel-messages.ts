import type { DropReason } from '../delivery/ledger.js'
import type { RecordKind, ValidationError } from '../records/wire.js'

/** The lane that a message is about. */
interface LaneMessage {
  /** Kind of the lane's records. */
  readonly kind: RecordKind
  /** Bucket of the lane. */
  readonly bucket: string
}

/** Message on `sluice:dropped`: records are lost. Published at most once a second for each kind and reason. */
export interface DroppedMessage extends LaneMessage {
  /** Why they are lost. */
  readonly reason: DropReason
  /** How many are lost since the last message. */
  readonly count: number
}

/** Message on `sluice:rejected`: one record is refused by the service, or failed too often while others were delivered. */
export interface RejectedMessage extends LaneMessage {
  /** Status of the answer. */
  readonly status: number
  /** Why it is rejected, for people. */
  readonly reason: string
  /** The fields that are wrong. Empty unless the service names them. */
  readonly validationErrors: readonly ValidationError[]
  /** The record as JSON, cut after 4,096 characters. */
  readonly record: string
  /** The time of the rejection, in milliseconds since 1970. */
  readonly at: number
}

/** Message on `sluice:paused`: the lane waits until a key, a bucket or a plan is corrected. Its records are kept. */
export interface PausedMessage extends LaneMessage {
  /** Status of the answer. */
  readonly status: number
  /** Why the lane waits, for people. */
  readonly reason: string
  /** `key`: every lane with the same key waits. `lane`: this lane alone waits. */
  readonly scope: 'key' | 'lane'
}

/** Message on `sluice:outage`: the lane has delivered nothing for 10 s. Its records are kept. */
export interface OutageMessage extends LaneMessage {
  /** Why the last attempt failed, for people. */
  readonly reason: string
}

/** Message on `sluice:resumed`: the lane delivers again after a pause or an outage. */
export interface ResumedMessage extends LaneMessage {}

/** Message by the name of its channel in `node:diagnostics_channel`. */
export interface SluiceMessages {
  /** Records are lost. */
  readonly 'sluice:dropped': DroppedMessage
  /** One record is rejected. */
  readonly 'sluice:rejected': RejectedMessage
  /** A lane waits for a correction. */
  readonly 'sluice:paused': PausedMessage
  /** A lane delivers nothing for a while. */
  readonly 'sluice:outage': OutageMessage
  /** A lane delivers again. */
  readonly 'sluice:resumed': ResumedMessage
}
