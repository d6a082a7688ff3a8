import { signal } from '@preact/signals'
import { type LogRecord, type RecordPage, timeOf } from '../api/records.js'
import { isAborted, messageOf, request } from '../api/requests.js'

/** So many of the newest lines are read that may tell of a gap. */
const maxRead = 500
const wording = /^sluice: (\d+) (log|value) records? lost from (\S+) to (\S+) \(([^()]+)\)/

/** Records that an application has lost, as its library reported. */
export interface Gap {
  /** Id of the log record that reports it. */
  readonly id: number
  readonly app: string
  readonly kind: 'log' | 'value'
  readonly count: number
  /** Reasons with their counts: `queue-full 312`. */
  readonly reasons: string
  /** In ms since 1970. */
  readonly from: number
  readonly to: number
}

/** The gap that a record reports. */
function gapOf(record: LogRecord): Gap | undefined {
  const found = wording.exec(record.message)
  if (found === null) return undefined
  const [, count, kind, from, to, reasons] = found as unknown as [
    string,
    string,
    'log' | 'value',
    string,
    string,
    string,
  ]
  const now = timeOf(record)
  const times = [from, to].map(Date.parse).map((ms) => (Number.isNaN(ms) ? now : ms)) as [number, number]
  return { id: record.id, app: record.appName, kind, count: Number(count), reasons, from: times[0], to: times[1] }
}

/** The gaps that are reported in the logs of a bucket, newest first. */
export class Gaps {
  readonly list = signal<readonly Gap[]>([])
  readonly error = signal<string | undefined>(undefined)
  #bucket = ''

  /** Reads the reports that are there. */
  async load(bucket: string, signal: AbortSignal): Promise<void> {
    if (bucket !== this.#bucket) this.list.value = []
    this.#bucket = bucket
    const query = new URLSearchParams({ text: 'sluice lost from to', level: 'warn', limit: String(maxRead) })
    try {
      const { list } = await request<RecordPage<LogRecord>>(`/api/logs/${encodeURIComponent(bucket)}?${query}`, {
        signal,
      })
      this.take(list)
      this.error.value = undefined
    } catch (error) {
      if (!isAborted(error)) this.error.value = messageOf(error)
    }
  }

  /** Takes the reports among these records. */
  take(records: readonly LogRecord[]): void {
    const added = records.flatMap((record) => gapOf(record) ?? [])
    if (added.length === 0) return
    // The records that are read and those that arrive overlap.
    const all = new Map([...this.list.value, ...added].map((gap) => [gap.id, gap]))
    this.list.value = [...all.values()].sort((a, b) => b.id - a.id).slice(0, maxRead)
  }
}
