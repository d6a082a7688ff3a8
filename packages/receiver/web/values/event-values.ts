import { signal } from '@preact/signals'
import { readCounts } from '../api/counts.js'
import { type RecordPage, timeOf, type ValueRecord } from '../api/records.js'
import { isAborted, messageOf, request } from '../api/requests.js'

const pageSize = 200
/** A list to which values come keeps this many. */
const maxValues = 5000

interface Source {
  readonly bucket: string
  readonly eventId: number
  /** The time range, in ms. */
  readonly since: number | undefined
  readonly until: number | undefined
}

/** The value records of one event, newest first. */
export class EventValues {
  /** Undefined until the first page is there. */
  readonly values = signal<readonly ValueRecord[] | undefined>(undefined)
  readonly hasMore = signal(false)
  /** Number of the logs that have the event. */
  readonly logs = signal(0)
  readonly error = signal<string | undefined>(undefined)
  #source: Source | undefined
  #before: number | undefined
  #abort = new AbortController()

  load(source: Source): void {
    this.end()
    this.#source = source
    this.#before = undefined
    this.values.value = undefined
    this.hasMore.value = false
    this.logs.value = 0
    void this.more()
    void this.#countLogs(source)
  }

  /** Reads older values. */
  async more(): Promise<void> {
    const { signal } = this.#abort
    const { bucket, eventId, since, until } = this.#source!
    const query = new URLSearchParams({ eventId: String(eventId), limit: String(pageSize) })
    if (this.#before !== undefined) query.set('before', String(this.#before))
    if (since !== undefined) query.set('since', new Date(since).toISOString())
    if (until !== undefined) query.set('until', new Date(until).toISOString())
    try {
      const page = await request<RecordPage<ValueRecord>>(`/api/values/${encodeURIComponent(bucket)}?${query}`, {
        signal,
      })
      this.#add(page.list, [])
      this.#before = page.next ?? (page.list.length < pageSize ? undefined : page.list.at(-1)!.id)
      this.hasMore.value = this.#before !== undefined
      this.error.value = undefined
    } catch (error) {
      if (!isAborted(error)) this.error.value = messageOf(error)
    }
  }

  /** Takes values that have arrived, oldest first. */
  take(values: readonly ValueRecord[]): void {
    const { eventId, since = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY } = this.#source!
    const chosen = values.filter(
      (value) => value.eventId === eventId && timeOf(value) >= since && timeOf(value) < until,
    )
    if (chosen.length > 0 && this.values.value !== undefined) this.#add([], chosen.toReversed())
  }

  end(): void {
    this.#abort.abort()
    this.#abort = new AbortController()
  }

  #add(older: readonly ValueRecord[], newer: readonly ValueRecord[]): void {
    const known = this.values.value ?? []
    const ids = new Set(known.map(({ id }) => id))
    const isNew = ({ id }: ValueRecord) => !ids.has(id)
    const all = [...newer.filter(isNew), ...known, ...older.filter(isNew)]
    if (newer.length > 0 && all.length > maxValues) {
      this.#before = all[maxValues - 1]!.id
      this.hasMore.value = true
      all.length = maxValues
    }
    this.values.value = all
  }

  async #countLogs({ bucket, eventId }: Source): Promise<void> {
    const query = new URLSearchParams({ eventId: String(eventId) })
    const { signal } = this.#abort
    try {
      this.logs.value = (await readCounts(`logs/${encodeURIComponent(bucket)}`, query, { signal })).total
    } catch {
      // The list is of use without this number.
    }
  }
}
