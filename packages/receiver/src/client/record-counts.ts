/** Records counted by level (logs) or event (values), and by their own time. */
export interface RecordCounts {
  /** The field that is counted: `level` or `event`. */
  readonly by: string
  /** Number of records that match. */
  readonly total: number
  /** Number of records by value, of the 1,000 most frequent values. */
  readonly totals: Readonly<Record<string, number>>
  /** Time of the last record by value, ISO 8601 UTC. */
  readonly lastSeen: Readonly<Record<string, string>>
  /** Length of a step in milliseconds; only with `step`. */
  readonly stepMs?: number
  /** Steps that have records, oldest first; only with `step`. */
  readonly list?: readonly CountedStep[]
  /** Records of the less frequent values, where there are more than 1,000. */
  readonly others?: number
  /** Where counting was cut: records before this time are not in the counts. ISO 8601 UTC. */
  readonly countedSince?: string
  /** Where there are none: a field, level or other value of the question that no record has, with those that occur and the nearest. */
  readonly hint?: string
}

/** The counts of one step. */
export interface CountedStep {
  /** Begin of the step, ISO 8601 UTC. */
  readonly time: string
  /** Number of records by value. */
  readonly counts: Readonly<Record<string, number>>
}
