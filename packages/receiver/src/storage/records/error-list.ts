import type { ErrorList, ErrorQuery, ErrorSummary } from '../record-storage.js'
import type { ErrorKind } from './error-kind.js'
import { anyKind, type ErrorNames } from './error-tallies.js'
import { dayMs, hourMs, latestMs, minuteMs } from './record-times.js'

/** Most steps in an answer. */
const maxSteps = 24
/** Up to this length of time steps are made of minutes, and up to that one of hours. Longer ones are made of days. */
const maxByMinute = 2 * dayMs
const maxByHour = 60 * dayMs
/** Most versions and applications of a kind in an answer: the newest. */
const maxShown = 50

/** Rows of a table with a length of step, `from` <= begin of the step < `to`. */
export interface ErrorPart {
  readonly stepMs: number
  readonly from: number
  readonly to: number
}

/** A kind of error and its records in the time that was asked for. */
export interface CountedKind {
  readonly kind: string
  readonly records: number
}

/** Records of a kind, application, environment and version, of all times. */
export interface ErrorRow extends ErrorNames {
  readonly firstMs: number
  readonly lastMs: number
  readonly lastId: number
}

/** Steps of an answer. */
export interface AnsweredSteps {
  readonly fromMs: number
  readonly stepMs: number
  readonly number: number
  readonly parts: readonly ErrorPart[]
}

/** The records of a kind in one step of the answer, by its number. */
export interface StepRow {
  readonly kind: string
  readonly step: number
  readonly records: number
}

/** What the tables know of the kinds that an answer lists. */
export interface ListedErrors {
  /** In the order of the answer. */
  readonly kinds: readonly CountedKind[]
  /** Number of all kinds. */
  readonly total: number
  readonly texts: readonly ErrorKind[]
  /** Those of the kinds, and those of `anyKind`. */
  readonly rows: readonly ErrorRow[]
}

/** The time from which a query counts. Errors are counted by whole minutes. */
export function sinceOf({ since }: Pick<ErrorQuery, 'since'>): number | undefined {
  return since === undefined ? undefined : Math.floor(since / minuteMs) * minuteMs
}

/** The parts of a table that together have the records since a time, the longest steps up to a length. */
export function errorParts(since: number, longest: number = dayMs): ErrorPart[] {
  const parts: ErrorPart[] = []
  let from = since
  for (const [stepMs, next] of [
    [minuteMs, hourMs],
    [hourMs, dayMs],
    [dayMs, dayMs],
  ] as const) {
    const to = stepMs === longest ? latestMs + 1 : Math.ceil(from / next) * next
    if (from < to) parts.push({ stepMs, from, to })
    if (stepMs === longest) break
    from = to
  }
  return parts
}

/** The steps of an answer: from the time that was asked for until now, or else as long as there were errors. */
export function answeredSteps(query: ErrorQuery, rows: readonly ErrorRow[]): AnsweredSteps {
  const found = rows.filter(({ kind }) => kind !== anyKind)
  const since = sinceOf(query)
  const begin = since ?? found.reduce((least, { firstMs }) => Math.min(least, firstMs), query.nowMs)
  const end = since === undefined ? found.reduce((most, { lastMs }) => Math.max(most, lastMs), begin) : query.nowMs
  const longest = end - begin <= maxByMinute ? minuteMs : end - begin <= maxByHour ? hourMs : dayMs
  const fromMs = since ?? Math.floor(begin / longest) * longest
  const lengthMs = Math.max(end - fromMs, 0) + 1
  const stepMs = Math.ceil(lengthMs / maxSteps / longest) * longest
  return { fromMs, stepMs, number: Math.ceil(lengthMs / stepMs), parts: errorParts(fromMs, longest) }
}

/** The answer. */
export function errorList(
  query: ErrorQuery,
  { kinds, total, texts, rows, steps, stepRows }: ListedErrors & { steps: AnsweredSteps; stepRows: readonly StepRow[] },
): ErrorList {
  const since = sinceOf(query) ?? Number.NEGATIVE_INFINITY
  const textsOf = new Map(texts.map((each) => [each.id, each]))
  const rowsOf = byKind(rows)
  const counts = byKind(stepRows)
  const versions = new Versions(rowsOf.get(anyKind) ?? [])
  const list = kinds.flatMap(({ kind, records }): ErrorSummary[] => {
    const known = textsOf.get(kind)
    const all = rowsOf.get(kind)
    // Retention has taken them meanwhile.
    if (known === undefined || all === undefined) return []
    const asked = all.filter(({ lastMs }) => lastMs >= since)
    const found = Array.from({ length: steps.number }, () => 0)
    // Clocks may be ahead: records from the future stand in the last step.
    for (const each of counts.get(kind) ?? []) found[Math.min(each.step, found.length - 1)]! += each.records
    return [
      {
        ...known,
        count: records,
        firstMs: all.reduce((least, { firstMs }) => Math.min(least, firstMs), latestMs),
        lastMs: all.reduce((most, { lastMs }) => Math.max(most, lastMs), Number.NEGATIVE_INFINITY),
        apps: shown(asked, 'app'),
        versions: versions.sorted(shown(asked, 'version')),
        sample: asked.reduce((most, { lastId }) => Math.max(most, lastId), 0),
        isNew: versions.isNew(all),
        steps: found,
      },
    ]
  })
  return { total, list, fromMs: steps.fromMs, stepMs: steps.stepMs }
}

/** The versions of applications by the time when they were first seen. */
class Versions {
  /** By application and version, both as JSON. */
  readonly #ofApps = new Map<string, Map<string, number>>()
  /** By version of any application, as JSON. */
  readonly #firstMs = new Map<string, number>()
  /** By application. */
  readonly #newest = new Map<string, NewestVersion | undefined>()

  /** @param rows those of `anyKind` */
  constructor(rows: readonly ErrorRow[]) {
    for (const { app, version, firstMs } of rows) {
      if (version === '') continue
      const versions = this.#ofApps.get(app) ?? new Map<string, number>()
      this.#ofApps.set(app, versions.set(version, Math.min(versions.get(version) ?? latestMs, firstMs)))
      this.#firstMs.set(version, Math.min(this.#firstMs.get(version) ?? latestMs, firstMs))
    }
    for (const [app, versions] of this.#ofApps) this.#newest.set(app, newestOf(versions))
  }

  /**
   * True for a kind that came with the newest version: each application that has it has had an earlier version, and only the newest has the kind. A
   * record without a version counts as one of an earlier version if it is older than the newest.
   */
  isNew(rows: readonly ErrorRow[]): boolean {
    return (
      rows.every(({ app, version, firstMs }) => {
        const newest = this.#newest.get(app)
        if (newest === undefined) return false
        return version === '' ? firstMs >= newest.firstMs : version === newest.version
      }) && rows.some(({ version }) => version !== '')
    )
  }

  /** The newest last. */
  sorted(versions: readonly string[]): string[] {
    const known = new Map(versions.map((version) => [version, this.#firstMs.get(JSON.stringify(version)) ?? latestMs]))
    return [...versions].sort((a, b) => known.get(a)! - known.get(b)! || (a < b ? -1 : 1)).slice(-maxShown)
  }
}

interface NewestVersion {
  readonly version: string
  readonly firstMs: number
}

/** The newest version, where there is an earlier one. There may be very many. */
function newestOf(versions: ReadonlyMap<string, number>): NewestVersion | undefined {
  let newest: NewestVersion | undefined
  let earliestMs = Number.POSITIVE_INFINITY
  let isOnly = true
  for (const [version, firstMs] of versions) {
    earliestMs = Math.min(earliestMs, firstMs)
    if (newest === undefined || firstMs > newest.firstMs) {
      newest = { version, firstMs }
      isOnly = true
    } else if (firstMs === newest.firstMs) isOnly = false
  }
  return newest !== undefined && isOnly && earliestMs < newest.firstMs ? newest : undefined
}

function shown(rows: readonly ErrorRow[], name: 'app' | 'version'): string[] {
  const names = new Set(rows.map((row) => row[name]).filter((json) => json !== ''))
  const texts = [...names].map((json) => JSON.parse(json) as string).sort()
  return name === 'app' ? texts.slice(0, maxShown) : texts
}

function byKind<Row extends { readonly kind: string }>(rows: readonly Row[]): Map<string, Row[]> {
  const kinds = new Map<string, Row[]>()
  for (const row of rows) {
    const others = kinds.get(row.kind)
    if (others === undefined) kinds.set(row.kind, [row])
    else others.push(row)
  }
  return kinds
}
