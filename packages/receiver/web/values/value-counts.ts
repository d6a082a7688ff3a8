import { signal } from '@preact/signals'
import { readCounts } from '../api/counts.js'
import { timeOf, type ValueRecord } from '../api/records.js'
import { Recount } from '../api/recount.js'
import { isAborted, messageOf } from '../api/requests.js'
import { writtenStep } from '../charts/steps.js'
import type { ValueRange } from './value-range.js'

/** The counts of one event. */
export interface EventCounts {
  readonly eventId: number
  /** All of its values in the bucket. */
  total: number
  /** Its newest time stamp, in ms. */
  lastSeen: number
  /** Counts of the time range, by the start of a step in ms. */
  readonly steps: Map<number, number>
}

/** Counts of values by event: of all, and by step for a time range. Values that arrive are added. */
export class ValueCounts {
  readonly version = signal(0)
  readonly error = signal<string | undefined>(undefined)
  readonly loaded = signal(false)
  events = new Map<number, EventCounts>()
  /** Values of the less frequent events, where there are too many events. */
  others = 0
  #bucket = ''
  #range: ValueRange | undefined
  readonly #recount = new Recount()

  /** Counts the values of a bucket, and step by step those of a time range. */
  load(bucket: string, range: ValueRange): void {
    if (bucket !== this.#bucket) {
      this.events = new Map()
      this.loaded.value = false
    }
    this.#bucket = bucket
    this.#range = range
    this.#recount.begin((signal) => this.#ask({ bucket, range, signal }))
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
      this.#addToStep(event, ms)
      event.lastSeen = Math.max(event.lastSeen, ms)
      event.total++
    }
    this.version.value++
  }

  #addToStep({ steps }: EventCounts, ms: number): void {
    const { stepMs, since, until = Number.POSITIVE_INFINITY } = this.#range!
    if (ms < since || ms >= until) return
    const start = Math.floor(ms / stepMs) * stepMs
    steps.set(start, (steps.get(start) ?? 0) + 1)
  }

  end(): void {
    this.#recount.end()
  }

  async #ask({ bucket, range, signal }: { bucket: string; range: ValueRange; signal: AbortSignal }): Promise<void> {
    const place = `values/${encodeURIComponent(bucket)}` as const
    const { since, until, stepMs } = range
    const steps = new URLSearchParams({ since: new Date(since).toISOString(), step: writtenStep(stepMs) })
    if (until !== undefined) steps.set('until', new Date(until).toISOString())
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
        const start = Date.parse(time)
        for (const [eventId, count] of Object.entries(counts)) events.get(Number(eventId))?.steps.set(start, count)
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
    event = { eventId, total: 0, lastSeen: 0, steps: new Map() }
    events.set(eventId, event)
  }
  return event
}
