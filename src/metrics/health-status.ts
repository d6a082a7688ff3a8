import type { LaneState } from '../delivery/ledger.js'
import type { RecordKind } from '../records/wire.js'

/** `ok`: all lanes deliver. `degraded`: records wait or were lost. `failing`: a person must act, or records are being lost. */
export type HealthStatus = 'ok' | 'degraded' | 'failing'

/** The worst last. */
export const healthStatuses: readonly HealthStatus[] = ['ok', 'degraded', 'failing']

/** How records of one kind get to one bucket. */
export interface LaneHealth {
  /** Log records or value records. */
  readonly kind: RecordKind
  /** Where they go. */
  readonly bucket: string
  /** How the lane is. */
  readonly status: HealthStatus
  /** State of the lane: the worst one, where several engines of the process have such a lane. */
  readonly state: LaneState
  /** When the status began, as ISO text: the time of the call that saw it first. */
  readonly since: string
  /** Why the lane is not `ok`, for people. Undefined for `ok`. */
  readonly reason: string | undefined
}

/** How the delivery of the process is. */
export interface Health {
  /** The worst status of the lanes, `ok` without any; `failing` while Sluice is off for a wrong configuration. */
  readonly status: HealthStatus
  /** Every lane by kind and bucket, those of pino's workers included. */
  readonly lanes: readonly LaneHealth[]
  /** When the status began, as ISO text: the time of the call that saw it first. */
  readonly since: string
  /** The reason of a lane with this status, for people; one that names an error, where there is one. Undefined for `ok`. */
  readonly reason: string | undefined
  /** The most records and bytes that memory holds, over all engines that are not closed. Undefined where an older copy of Sluice counts. */
  readonly capacity: { readonly records: number; readonly bytes: number } | undefined
}
