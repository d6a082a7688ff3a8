import { signal } from '@preact/signals'
import type { LogRecord } from '../api/records.js'
import { isAborted, messageOf } from '../api/requests.js'
import { findNewer, findOlder } from './older-records.js'
import type { RecordFilter } from './record-filter.js'
import { insertByTime, inTimeOrder } from './time-order.js'

/** A list that follows keeps at most this many rows; so does the list of those that wait. */
const maxRows = 20_000
/** A list that stands still may grow to this many rows. */
const maxLoadedRows = 50_000
const enough = 300
/** Ids of so many records are remembered, of which the feed may bring one again. */
const maxKnown = 20_000
/** A gap of more records than this is not filled: the list is loaded anew. */
const maxGap = 5_000

/** The reason why a list does not follow. */
export type Hold = 'scroll' | 'selection' | 'details' | 'cursor' | 'pause'

interface Source {
  readonly bucket: string
  readonly filter: RecordFilter
  /** Shows the lines around this record; undefined shows the newest. */
  readonly around?: number | undefined
}

/**
 * The rows of the page of logs, oldest first. While it follows, new records join at the end. While it is held, they wait, and nothing moves.
 */
export class LogList {
  /** Counts the changes of `rows`. */
  readonly version = signal(0)
  readonly hold = signal<Hold | undefined>(undefined)
  /** Number of new records that wait. */
  readonly waiting = signal(0)
  readonly loading = signal(false)
  readonly error = signal<string | undefined>(undefined)
  /** True when there is nothing older. */
  readonly complete = signal(false)
  /** Where the receiver has cut the search: the time of the next record to look at, in ms. */
  readonly cutAt = signal<number | undefined>(undefined)
  /** The receiver's reason why there are no rows, where it knows one. */
  readonly hint = signal<string | undefined>(undefined)
  rows: LogRecord[] = []
  /** Counts how often the rows were loaded anew. */
  loads = 0
  /** The place of the first row, counted from where the list began: it falls as older rows come in front, and rises as they go. */
  origin = 0
  #source: Source | undefined
  #waiting: LogRecord[] = []
  /** True if newer records than those of `rows` are not here. */
  #detached = false
  #newest = 0
  /** Ids of the records that were read or have arrived. Late ones have smaller ids than others before them. */
  #known = new Set<number>()
  /** Records with smaller ids are read with the older ones. */
  #first = 0
  #before: number | undefined
  /** True if the feed has had a gap that is not filled yet. */
  #gap = false
  /** While rows are loaded anew, or a gap is filled, the records that arrive: they come after those that are read. */
  #early: LogRecord[] | undefined
  #abort = new AbortController()

  /** All records that match, those that wait included; undefined if some are not here. */
  get whole(): readonly LogRecord[] | undefined {
    if (!this.complete.value || this.#detached) return undefined
    return this.#waiting.length === 0 ? this.rows : [...this.rows, ...this.#waiting]
  }

  /** Loads the rows anew. */
  async load(source: Source): Promise<void> {
    this.#abort.abort()
    const abort = new AbortController()
    this.#abort = abort
    this.#source = source
    this.#gap = false
    this.#early = []
    this.#waiting = []
    this.waiting.value = 0
    this.hold.value = source.around === undefined ? undefined : 'details'
    this.loading.value = true
    try {
      const { around } = source
      const { signal } = abort
      const half = { ...source, enough: enough / 2, signal }
      const [found, newer] =
        around === undefined
          ? [await findOlder({ ...source, enough, signal }), []]
          : await Promise.all([findOlder({ ...half, before: around + 1 }), findNewer({ ...half, after: around })])
      const records = [...found.records, ...newer]
      this.#detached = around !== undefined
      this.rows = inTimeOrder(records)
      this.loads++
      this.origin = 0
      this.#before = found.before
      this.complete.value = found.before === undefined
      this.cutAt.value = found.cutAt
      this.hint.value = found.hint
      this.#newest = Math.max(records.at(-1)?.id ?? 0, around ?? 0)
      this.#known = new Set(records.map(({ id }) => id))
      this.#first = around === undefined ? (found.before ?? 0) : this.#newest
      this.loading.value = false
      this.error.value = undefined
      this.version.value++
    } catch (error) {
      this.#fail(error, abort)
    }
    await this.#catchUp(abort)
  }

  /** Loads older rows in front of the first one. */
  async loadOlder(): Promise<void> {
    const source = this.#source
    if (source === undefined || this.loading.value || this.#before === undefined || this.rows.length >= maxLoadedRows)
      return
    const abort = this.#abort
    this.loading.value = true
    try {
      const found = await findOlder({ ...source, before: this.#before, enough, signal: abort.signal })
      const known = new Set(this.rows.map(({ id }) => id))
      const older = inTimeOrder(found.records.filter(({ id }) => !known.has(id)))
      this.rows = [...older, ...this.rows]
      this.origin -= older.length
      this.#before = found.before
      this.complete.value = found.before === undefined
      this.cutAt.value = found.cutAt
      this.loading.value = false
      this.version.value++
    } catch (error) {
      this.#fail(error, abort)
    }
  }

  /** Takes records that have arrived, oldest first. Records that are there already are passed over. */
  take(records: readonly LogRecord[]): void {
    if (this.#early !== undefined) {
      for (const record of records) this.#early.push(record)
      return
    }
    this.#add(records)
  }

  #add(records: readonly LogRecord[]): void {
    const filter = this.#source?.filter
    if (filter === undefined) return
    const chosen: LogRecord[] = []
    for (const record of records) {
      if (record.id < this.#first || this.#known.has(record.id)) continue
      this.#known.add(record.id)
      this.#newest = Math.max(this.#newest, record.id)
      if (filter.matches(record)) chosen.push(record)
    }
    if (this.#known.size > maxKnown) this.#known = new Set([...this.#known].slice(-maxKnown / 2))
    if (chosen.length === 0) return
    if (this.hold.value === undefined) this.#append(chosen)
    else this.#wait(chosen)
  }

  /** Fills a gap of the feed: everything newer than the newest record that is known. */
  async fillGap(): Promise<void> {
    this.#gap = true
    if (this.#source === undefined || this.#early !== undefined) return
    this.#early = []
    await this.#catchUp(this.#abort)
  }

  /** Fills the gaps, then takes what has arrived meanwhile. */
  async #catchUp(abort: AbortController): Promise<void> {
    try {
      while (this.#gap && !abort.signal.aborted) {
        this.#gap = false
        await this.#readGap(abort)
      }
    } catch (error) {
      this.#fail(error, abort)
    }
    if (abort !== this.#abort) return
    const early = this.#early ?? []
    this.#early = undefined
    this.take(early)
  }

  async #readGap({ signal }: AbortController): Promise<void> {
    const source = this.#source!
    if (source.filter.problem !== undefined) return
    if (this.error.value !== undefined) return await this.load(source)
    const all = { query: new URLSearchParams(), matches: () => true }
    const newest = await findOlder({ bucket: source.bucket, filter: all, enough: 1, signal })
    const last = newest.records.at(-1)?.id ?? 0
    if (last === this.#newest || signal.aborted) return
    const known = newest.records.findIndex(({ id }) => id > this.#newest)
    // The receiver counts anew when its data is gone.
    if (last < this.#newest) return await this.load({ bucket: source.bucket, filter: source.filter })
    if (known > 0) return this.#add(newest.records)
    const found = await findOlder({ ...source, enough: maxGap, signal })
    const isFilled = found.records.length < maxGap && (found.cutAt === undefined || found.before! <= this.#newest)
    if (!isFilled && this.hold.value === undefined) return await this.load(source)
    this.#add(found.records)
  }

  /** Stands still. */
  stop(hold: Hold): void {
    this.hold.value ??= hold
  }

  /** Shows all that waits, and follows. */
  async follow(): Promise<void> {
    this.hold.value = undefined
    if (this.#detached && this.#source !== undefined) {
      const { bucket, filter } = this.#source
      return await this.load({ bucket, filter })
    }
    const waiting = this.#waiting
    this.#waiting = []
    this.waiting.value = 0
    this.#append(waiting)
  }

  #append(records: readonly LogRecord[]): void {
    for (const record of records) insertByTime(this.rows, record)
    const excess = this.rows.length - maxRows
    if (excess > 0) {
      const gone = this.rows.splice(0, excess)
      this.origin += excess
      this.#before = gone.reduce((last, { id }) => Math.max(last, id), 0) + 1
      this.complete.value = false
    }
    this.version.value++
  }

  #wait(records: readonly LogRecord[]): void {
    this.waiting.value += records.length
    if (this.#detached) return
    for (const record of records) this.#waiting.push(record)
    if (this.#waiting.length <= maxRows) return
    this.#waiting = []
    this.#detached = true
  }

  #fail(error: unknown, abort: AbortController): void {
    if (abort !== this.#abort || isAborted(error)) return
    this.loading.value = false
    this.error.value = messageOf(error)
  }
}
