import { argumentError } from '../../../../src/content/api-error.js'

/** A level that others can be compared with. */
export type LevelName = 'trace' | 'debug' | 'verbose' | 'info' | 'warn' | 'error' | 'fatal'

/** Filters of value records. A record must pass all that are given. */
export interface ValueFilter {
  /** A query in the language of docs/searching.md, such as `level>=warn res.statusCode>=500`. */
  readonly q?: string | undefined
  /** Only this event. */
  readonly eventId?: number | undefined
  /** Only this service, by its exact name. */
  readonly appName?: string | undefined
  /** Only this environment, by its exact name. */
  readonly env?: string | undefined
  /** Only this version of the service. */
  readonly appVersion?: string | undefined
  /** Only records of this time and later. A text is ISO 8601 UTC, or a time ago such as `30s`, `5m`, `2h` or `7d`. */
  readonly since?: Date | string | undefined
  /** Only records before this time, in the same forms. */
  readonly until?: Date | string | undefined
  /** Aborts the reading: its promise rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined
}

/** Filters of log records. A record must pass all that are given. */
export interface LogFilter extends ValueFilter {
  /** Only this level, or any of these, by their exact names. */
  readonly level?: string | readonly string[] | undefined
  /** Only this level and those above. Levels of other names are left out. */
  readonly minLevel?: LevelName | undefined
  /** Not this level, and none of these. */
  readonly notLevel?: string | readonly string[] | undefined
  /** Only this host, by its exact name. */
  readonly machineName?: string | undefined
  /** Only messages with all these words, in any order; case and accents are ignored. */
  readonly text?: string | undefined
  /** Only messages with none of these words. */
  readonly notText?: string | undefined
}

/** Which errors are counted. A log must pass all that are given. */
export interface ErrorFilter {
  /** Only logs of this time and later, by whole minutes. A text is ISO 8601 UTC, or a time ago such as `30s`, `5m`, `2h` or `7d`. */
  readonly since?: Date | string | undefined
  /** Only this service, by its exact name. */
  readonly app?: string | undefined
  /** Only this environment, by its exact name. */
  readonly env?: string | undefined
  /** Most kinds in the answer, 1 to 1000. @default 100 */
  readonly limit?: number | undefined
  /** Aborts the reading: its promise rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined
}

/** The length of the steps in which records are counted. */
export interface Steps {
  /** A number of minutes, hours or days, such as `1m`, `5m`, `1h` or `1d`; at most 10,000 steps. @default totals only */
  readonly step?: string | undefined
}

/** Bounds of a page of records. */
export interface RecordBounds {
  /** Most records, 1 to 1000. @default 100 */
  readonly limit?: number | undefined
  /** Only records with a smaller id: the page after the one that ends with this id. */
  readonly before?: number | undefined
  /** Only records with a larger id: without `before` those that follow it, newest first. The next page is after the id of the first of them. */
  readonly after?: number | undefined
}

/**
 * The query of a request, with its question mark; empty without filters.
 *
 * @throws {TypeError} for an invalid Date
 */
export function queryOf({
  signal: _,
  ...filters
}: LogFilter & Steps & RecordBounds & ErrorFilter & { readonly bucket?: string }): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(filters)) if (value !== undefined) query.set(name, written(name, value))
  return query.size === 0 ? '' : `?${query}`
}

function written(name: string, value: string | number | Date | readonly string[]): string {
  if (!(value instanceof Date)) return String(value)
  if (Number.isNaN(value.getTime())) throw argumentError(name, { expected: 'a valid Date', got: 'an invalid Date' })
  return value.toISOString()
}
