import { signal } from '@preact/signals'
import { readCounts } from '../api/counts.js'
import { timeOf, type ValueRecord } from '../api/records.js'
import { Recount } from '../api/recount.js'
import { isAborted, messageOf } from '../api/requests.js'

const minuteMs = 60_000

/** The counts of one event. */
export interface EventCounts {
  readonly eventId: number
  /** All of its values in the bucket. */
  total: number
  /** Its newest time stamp, in ms. */
  lastSeen: number
  /** Counts by the number of the minute since 1970, for the last minutes. */
  readonly minutes: Map<number, number>
}

/** Counts of values by event: of all, and by minute for the last minutes. Those that arrive are added. */
export class ValueCounts {
  readonly version = signal(0)
  readonly error = signal<string | undefined>(undefined)
  readonly loaded = signal(false)
  events = new Map<number, EventCounts>()
  /** Values of the less frequent events, where there are too many events. */
  others = 0
  #bucket = ''
  readonly #recount = new Recount()

  /** Counts the values of a bucket; by minute those of the last `minutes`. */
  load(bucket: string, minutes: number): void {
    if (bucket !== this.#bucket) {
      this.events = new Map()
      this.loaded.value = false
    }
    this.#bucket = bucket
    this.#recount.begin((signal) => this.#ask({ bucket, minutes, signal }))
  }

  /** Adds values that have arrived. */
  take(values: readonly ValueRecord[]): void {
    if (values.length === 0) return
    this.#recount.recordsArrived()
    if (!this.loaded.value) return
    for (const value of values) {
      if (this.others > 0 && !this.events.has(value.eventId)) {
        this.others++
        continue
      }
      const ms = timeOf(value)
      const event = eventIn(this.events, value.eventId)
      const minute = Math.floor(ms / minuteMs)
      event.minutes.set(minute, (event.minutes.get(minute) ?? 0) + 1)
      event.lastSeen = Math.max(event.lastSeen, ms)
      event.total++
    }
    this.version.value++
  }

  end(): void {
    this.#recount.end()
  }

  async #ask({ bucket, minutes, signal }: { bucket: string; minutes: number; signal: AbortSignal }): Promise<void> {
    const place = `values/${encodeURIComponent(bucket)}` as const
    const since = (Math.floor(Date.now() / minuteMs) - minutes + 1) * minuteMs
    const steps = new URLSearchParams({ since: new Date(since).toISOString(), step: '1m' })
    try {
      const [all, recent] = await Promise.all([
        readCounts(place, new URLSearchParams(), { signal }),
        readCounts(place, steps, { signal }),
      ])
      const events = new Map<number, EventCounts>()
      for (const [eventId, total] of Object.entries(all.totals)) {
        const event = eventIn(events, Number(eventId))
        event.total = total
        event.lastSeen = Date.parse(all.lastSeen[eventId] ?? '') || 0
      }
      for (const { time, counts } of recent.list ?? []) {
        const minute = Math.floor(Date.parse(time) / minuteMs)
        for (const [eventId, count] of Object.entries(counts)) events.get(Number(eventId))?.minutes.set(minute, count)
      }
      this.events = events
      this.others = all.others ?? 0
      this.loaded.value = true
      this.error.value = undefined
      this.version.value++
    } catch (error) {
      if (isAborted(error)) throw error
      this.error.value = messageOf(error)
    }
  }
}

function eventIn(events: Map<number, EventCounts>, eventId: number): EventCounts {
  let event = events.get(eventId)
  if (event === undefined) {
    event = { eventId, total: 0, lastSeen: 0, minutes: new Map() }
    events.set(eventId, event)
  }
  return event
}

/** Counts of an event, minute by minute, the last one being `lastMinute`. */
export function series(
  { minutes }: EventCounts,
  { lastMinute, length }: { lastMinute: number; length: number },
): number[] {
  return Array.from({ length }, (_, index) => minutes.get(lastMinute - length + 1 + index) ?? 0)
}
