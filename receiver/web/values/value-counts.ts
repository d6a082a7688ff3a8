import { signal } from '@preact/signals'
import { type RecordPage, timeOf, type ValueRecord } from '../api/records.js'
import { isAborted, request } from '../api/requests.js'

const minuteMs = 60_000
const pageSize = 1000
/** So many values of the shown hour are read at the start; those before them are not in the chart. */
const maxPages = 30

/** The counts of one event. */
export interface EventCounts {
  readonly eventId: number
  /** All of its values in the bucket. */
  total: number
  /** Its newest time stamp, in ms. */
  lastSeen: number
  /** Counts by the number of the minute since 1970. */
  readonly minutes: Map<number, number>
}

/** Counts of values by event and minute, for the last minutes and as they arrive. */
export class ValueCounts {
  readonly version = signal(0)
  readonly error = signal<string | undefined>(undefined)
  readonly loaded = signal(false)
  readonly events = new Map<number, EventCounts>()
  #bucket = ''
  #newest = 0
  #abort = new AbortController()

  /** Counts the values of the last `spanMs`, and the totals of their events. */
  async load(bucket: string, spanMs: number): Promise<void> {
    this.#abort.abort()
    const abort = new AbortController()
    this.#abort = abort
    this.#bucket = bucket
    this.loaded.value = false
    try {
      const values = await readValues({ bucket, since: Date.now() - spanMs, signal: abort.signal })
      const latest = await readPage(bucket, new URLSearchParams({ limit: String(pageSize) }), abort.signal)
      this.events.clear()
      for (const value of latest.list)
        this.#event(value).lastSeen = Math.max(this.#event(value).lastSeen, timeOf(value))
      for (const value of values) this.#count(value)
      this.#newest = Math.max(values[0]?.id ?? 0, latest.list[0]?.id ?? 0)
      await Promise.all([...this.events.values()].map((event) => this.#readTotal(event, abort.signal)))
      this.loaded.value = true
      this.error.value = undefined
      this.version.value++
    } catch (error) {
      if (!isAborted(error)) this.error.value = error instanceof Error ? error.message : String(error)
    }
  }

  /** Counts values that have arrived. */
  take(values: readonly ValueRecord[]): void {
    if (!this.loaded.value) return
    for (const value of values) {
      if (value.id <= this.#newest) continue
      this.#newest = value.id
      this.#count(value).total++
    }
    this.version.value++
  }

  #event({ eventId }: ValueRecord): EventCounts {
    let event = this.events.get(eventId)
    if (event === undefined) {
      event = { eventId, total: 0, lastSeen: 0, minutes: new Map() }
      this.events.set(eventId, event)
    }
    return event
  }

  #count(value: ValueRecord): EventCounts {
    const event = this.#event(value)
    const ms = timeOf(value)
    const minute = Math.floor(ms / minuteMs)
    event.minutes.set(minute, (event.minutes.get(minute) ?? 0) + 1)
    event.lastSeen = Math.max(event.lastSeen, ms)
    return event
  }

  async #readTotal(event: EventCounts, signal: AbortSignal): Promise<void> {
    const query = new URLSearchParams({ limit: '1', eventId: String(event.eventId) })
    event.total = (await readPage(this.#bucket, query, signal)).total
  }
}

/** Counts of an event, minute by minute, the last one being `lastMinute`. */
export function series(
  { minutes }: EventCounts,
  { lastMinute, length }: { lastMinute: number; length: number },
): number[] {
  return Array.from({ length }, (_, index) => minutes.get(lastMinute - length + 1 + index) ?? 0)
}

interface ValueSearch {
  readonly bucket: string
  readonly since: number
  readonly signal: AbortSignal
}

/** Values since a time, newest first. */
async function readValues({ bucket, since, signal }: ValueSearch): Promise<ValueRecord[]> {
  const values: ValueRecord[] = []
  const query = new URLSearchParams({ limit: String(pageSize), since: new Date(since).toISOString() })
  for (let page = 0; page < maxPages; page++) {
    const { list, next } = await readPage(bucket, query, signal)
    values.push(...list)
    const end = next ?? (list.length < pageSize ? undefined : list.at(-1)!.id)
    if (end === undefined) break
    query.set('before', String(end))
  }
  return values
}

function readPage(bucket: string, query: URLSearchParams, signal: AbortSignal): Promise<RecordPage<ValueRecord>> {
  return request(`/api/values/${encodeURIComponent(bucket)}?${query}`, { signal })
}
