/** The kinds of error in the logs of a bucket. */
export interface LogErrors {
  /** Number of all kinds, also of those that the list does not have. */
  readonly total: number
  /** The most frequent first. */
  readonly list: readonly LogError[]
  /** When the first of the `steps` begins, ISO 8601 UTC. */
  readonly from: string
  /** Length of a step in milliseconds. */
  readonly stepMs: number
  /** Where there are none: a field, level or other value of the question that no record has, with those that occur and the nearest. */
  readonly hint?: string
}

/** One kind of error: the logs with the same type, message and frame. Numbers are of the time that was asked for. */
export interface LogError {
  /** The same on every receiver; `other` for the kinds beyond the 10,000 that are told apart. */
  readonly id: string
  /** The class of the error; null for a log without a stack. */
  readonly type: string | null
  /** The first line, with `<n>`, `<id>`, `<time>` and `<email>` for what changes. */
  readonly message: string
  /** The first frame that is the application's own, without its line; null where there is none. */
  readonly frame: string | null
  /** Number of logs. */
  readonly count: number
  /** When the first of all logs that are kept was written, ISO 8601 UTC. */
  readonly firstSeen: string
  /** When the last of them was written, ISO 8601 UTC. */
  readonly lastSeen: string
  /** The services that had the error. */
  readonly apps: readonly string[]
  /** The versions that had it, the newest last. */
  readonly versions: readonly string[]
  /** The id of a log that has it. */
  readonly sample: number
  /** Only the newest version had it, and there was an earlier one. */
  readonly new?: true
  /** Number of logs by step, at most 24. */
  readonly steps: readonly number[]
}
