import type { FeedListener } from '../api/live-feed.js'
import type { LogRecord, ValueRecord } from '../api/records.js'

const maxMinutes = 120
const maxApps = 50

interface AppArrivals {
  records: number
  bytes: number
  readonly minutes: Map<number, number>
}

/** Counts what arrives, by application and minute of arrival. */
export class Arrivals implements FeedListener {
  readonly apps = new Map<string, AppArrivals>()

  logs(records: readonly LogRecord[]): void {
    for (const record of records) this.#count(record)
  }

  values(records: readonly ValueRecord[]): void {
    for (const record of records) this.#count(record)
  }

  /** Forgets all: another bucket is shown. */
  clear(): void {
    this.apps.clear()
  }

  #count(record: LogRecord | ValueRecord): void {
    const name = this.apps.has(record.appName) || this.apps.size < maxApps ? record.appName : 'others'
    const app = this.apps.get(name) ?? { records: 0, bytes: 0, minutes: new Map<number, number>() }
    this.apps.set(name, app)
    app.records++
    // The text of a record is its bulk. The length of UTF-16 is near enough for a rate.
    app.bytes += 'message' in record ? record.message.length : 0
    const minute = Math.floor(Date.parse(record.receivedAt) / 60_000)
    app.minutes.set(minute, (app.minutes.get(minute) ?? 0) + 1)
    if (app.minutes.size > maxMinutes) app.minutes.delete(app.minutes.keys().next().value!)
  }
}

/** The counts of each application, the busiest first. */
export function arrivalsOf({ apps }: Arrivals, { lastMinute, length }: { lastMinute: number; length: number }) {
  return [...apps]
    .map(([app, { records, bytes, minutes }]) => ({
      app,
      records: Array.from({ length }, (_, index) => minutes.get(lastMinute - length + 1 + index) ?? 0),
      totalRecords: records,
      totalBytes: bytes,
    }))
    .sort((a, b) => b.totalRecords - a.totalRecords)
}
