import type { FailureCode } from './failure.js'

/** The operations as faults name them: each stands for all functions of its kind. */
export type DiskOperation =
  | 'open'
  | 'close'
  | 'read'
  | 'write'
  | 'fsync'
  | 'truncate'
  | 'stat'
  | 'list'
  | 'mkdir'
  | 'rmdir'
  | 'link'
  | 'rename'
  | 'unlink'
  | 'utimes'

export interface DiskFault {
  readonly code: FailureCode
  /** Of each call, from 0 to 1. */
  readonly chance: number
}

/** The faults of a disk. They may be changed at any time. */
export class DiskFaults {
  /** Calls of an operation that fail. */
  readonly at = new Map<DiskOperation, DiskFault>()
  /** The chance that a write takes only a part of its bytes, and that the next one of the same file fails with ENOSPC. */
  shortWrites = 0
  /** The bytes of all files together. A write takes as many as fit. */
  capacityBytes = Number.POSITIVE_INFINITY
  /** The bytes of one file. A write takes as many as fit, as under `ulimit -f`. */
  fileBytes = Number.POSITIVE_INFINITY
  /** Whatever changes something fails with EROFS. */
  readOnly = false
  /** Each operation blocks its thread for so long. */
  slowMs = 0
  /** Each operation blocks its thread until this time of the world: the schedule must know when it begins how long the disk hangs. */
  hungUntilMs = 0

  /** End all faults. A thread that hangs does so until the time that was known when its operation began. */
  heal(): void {
    this.at.clear()
    this.shortWrites = 0
    this.capacityBytes = Number.POSITIVE_INFINITY
    this.fileBytes = Number.POSITIVE_INFINITY
    this.readOnly = false
    this.slowMs = 0
    this.hungUntilMs = 0
  }
}
