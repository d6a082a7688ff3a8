import { signal } from '@preact/signals'
import type { RecordCounts } from '../../src/client/record-counts.js'
import { readCounts } from '../api/counts.js'
import type { LogRecord } from '../api/records.js'
import { Recount } from '../api/recount.js'
import { isAborted, RequestError } from '../api/requests.js'
import { dayMs, longestMs, maxBars, stepFor, writtenStep } from '../charts/steps.js'
import { barSpan, barTime } from './bar-span.js'
import type { RecordFilter } from './record-filter.js'

/** Each answer tells the length of the next question's bars better. */
const maxQuestions = 4

interface Source {
  readonly bucket: string
  readonly filter: RecordFilter
}

interface Asking {
  readonly stepMs: number
  readonly signal: AbortSignal
}

interface Question extends Asking {
  readonly bucket: string
  readonly query: URLSearchParams
}

/** Numbers of records by level, whatever levels the view chooses. */
export interface LevelTotals {
  readonly numbers: ReadonlyMap<string, number>
  /** Records from before this time are left out, in ISO 8601. */
  readonly since: string | undefined
}

/** Numbers by level, step by step. The first step may begin before `from`, and the last end after `to`. */
interface CountedSteps {
  readonly from: number
  readonly to: number
  readonly list: readonly { readonly start: number; readonly counts: ReadonlyMap<string, number> }[]
}

/** Counts of all records that match, and not only of those that are loaded. */
export class LogCounts {
  /** Undefined where the receiver cannot count: the page knows only the records that are loaded. */
  readonly totals = signal<LevelTotals | undefined>(undefined)
  /** Number of the records with the levels of the view. */
  total = 0
  /** `total` and the steps leave out records from before this time, in ISO 8601. */
  since: string | undefined
  /** The length of a step, in ms. */
  stepMs = dayMs
  /** Numbers by the start of a step and by level. */
  #steps = new Map<number, Map<string, number>>()
  #source: Source | undefined
  /** The source of the present counts. */
  #counted: Source | undefined
  readonly #recount = new Recount()

  /** Counts the records of another view. */
  load(source: Source): void {
    this.#source = source
    if (source.filter.isAsked) this.#recount.begin((signal) => this.#ask(source, signal))
    else {
      this.#recount.end()
      this.totals.value = undefined
    }
  }

  /** Counts anew: records may have arrived that `take` has not seen. */
  recount(): void {
    if (this.#source !== undefined) this.load(this.#source)
  }

  /** Adds records that have arrived. */
  take(records: readonly LogRecord[]): void {
    const filter = this.#source?.filter
    if (filter === undefined || !filter.isAsked) return
    const chosen = records.filter((record) => filter.matchesButLevel(record))
    if (chosen.length === 0) return
    this.#recount.recordsArrived()
    if (this.totals.value === undefined || this.#counted !== this.#source) return
    const numbers = new Map(this.totals.value.numbers)
    for (const record of chosen) {
      add(numbers, record.level, 1)
      if (!filter.hasLevel(record.level)) continue
      add(this.#step(barTime(record)), record.level, 1)
      this.total++
    }
    this.totals.value = { ...this.totals.value, numbers }
  }

  /** Numbers by level, step by step over the time range of the view, or from the oldest record to now. */
  steps(now: number): CountedSteps | undefined {
    const { stepMs } = this
    const range = rangeOf([...this.#steps.keys()], { ...this.#counted?.filter, stepMs, now })
    if (range === undefined) return undefined
    const first = this.#startOf(range.from)
    const length = Math.min(2 * maxBars, Math.ceil((range.to - first) / stepMs))
    const list = Array.from({ length }, (_, index) => {
      const start = first + index * stepMs
      return { start, counts: this.#steps.get(start) ?? new Map() }
    })
    return { from: range.from, to: Math.min(range.to, first + length * stepMs), list }
  }

  async #ask(source: Source, signal: AbortSignal): Promise<void> {
    try {
      const { answer, stepMs } = await this.#read(source, signal)
      const chosen = await this.#chosen(answer, { ...source, stepMs, signal })
      const { hasLevel } = source.filter
      this.#counted = source
      this.since = chosen.countedSince
      this.total = 0
      for (const [level, count] of Object.entries(chosen.totals)) if (hasLevel(level)) this.total += count
      this.stepMs = stepMs
      this.#steps = new Map()
      for (const { time, counts } of chosen.list ?? []) {
        for (const [level, count] of Object.entries(counts)) {
          if (hasLevel(level)) add(this.#step(Date.parse(time)), level, count)
        }
      }
      this.totals.value = { numbers: new Map(Object.entries(answer.totals)), since: answer.countedSince }
    } catch (error) {
      if (isAborted(error)) throw error
      // The page is of use without counts.
      this.totals.value = undefined
    }
  }

  /** Counts of all levels in steps that suit the span of the records. */
  async #read(source: Source, signal: AbortSignal) {
    const { bucket, filter } = source
    const now = Date.now()
    const first = filter.since === undefined ? dayMs : stepFor((filter.until ?? now) - filter.since)
    let stepMs = source === this.#counted ? this.stepMs : first
    for (let question = 1; ; question++) {
      const answer = await this.#question({ bucket, query: withoutLevel(filter.query), stepMs, signal })
      if (answer === undefined) {
        stepMs = longestMs
        continue
      }
      const starts = (answer.list ?? []).map(({ time }) => Date.parse(time))
      const span = rangeOf(starts, { ...filter, stepMs, now })
      const better = span === undefined ? stepMs : stepFor(span.to - span.from)
      if (better === stepMs || question >= maxQuestions) return { answer, stepMs }
      stepMs = better
    }
  }

  /** Undefined where these are too many steps. */
  async #question({ bucket, query, stepMs, signal }: Question): Promise<RecordCounts | undefined> {
    query.set('step', writtenStep(stepMs))
    try {
      return await readCounts(`logs/${encodeURIComponent(bucket)}`, query, { signal })
    } catch (error) {
      if (error instanceof RequestError && error.status === 400 && stepMs < longestMs) return undefined
      throw error
    }
  }

  /** Where the receiver has not counted all levels to the end, it may do so for those of the view. */
  async #chosen(answer: RecordCounts, { bucket, filter, stepMs, signal }: Source & Asking): Promise<RecordCounts> {
    if (answer.countedSince === undefined || !filter.query.has('level')) return answer
    return (await this.#question({ bucket, query: new URLSearchParams(filter.query), stepMs, signal })) ?? answer
  }

  #startOf(ms: number): number {
    return Math.floor(ms / this.stepMs) * this.stepMs
  }

  #step(ms: number): Map<string, number> {
    const start = this.#startOf(ms)
    let step = this.#steps.get(start)
    if (step === undefined) {
      step = new Map()
      this.#steps.set(start, step)
    }
    return step
  }
}

function add(counts: Map<string, number>, level: string, count: number): void {
  counts.set(level, (counts.get(level) ?? 0) + count)
}

interface Range extends Partial<Pick<RecordFilter, 'since' | 'until'>> {
  readonly stepMs: number
  readonly now: number
}

/** The time range of a view, or from the oldest step to now: to the end of the newest where that is in the future. Undefined without records. */
function rangeOf(starts: readonly number[], { since, until, stepMs, now }: Range) {
  const span = barSpan(starts, { since, until, stepMs })
  const from = since ?? span?.first
  const to = until ?? (span === undefined || span.last < now ? now : span.last + stepMs)
  return from !== undefined && from < to ? { from, to } : undefined
}

function withoutLevel(query: URLSearchParams): URLSearchParams {
  const others = new URLSearchParams(query)
  others.delete('level')
  return others
}
