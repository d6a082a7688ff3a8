import { type LogRecord, timeOf } from '../api/records.js'
import { partsOf } from '../text/message-parts.js'
import { clockTime, dayOf } from '../text/time.js'
import { oneLine } from '../text/visible.js'
import { levelClass } from './levels.js'

const maxChars = 400

interface RowProps {
  readonly record: LogRecord
  readonly index: number
  readonly current: boolean
  /** The day of today: other days are shown. */
  readonly today: string
  /** The number of records that this row stands for. */
  readonly count?: number | undefined
}

/** One record on one line. The table hears its clicks. */
export function LogRow({ record, index, current, today, count }: RowProps) {
  const ms = timeOf(record)
  const day = dayOf(ms)
  const { text, context, error } = partsOf(record)
  return (
    <div
      role="row"
      class={`row ${levelClass(record.level)}`}
      data-id={record.id}
      aria-rowindex={index + 1}
      aria-current={current ? 'true' : undefined}
      tabIndex={current ? 0 : -1}
    >
      <span role="cell" class="time">
        {day === today ? '' : <span class="day">{day.slice(0, 4) === today.slice(0, 4) ? day.slice(5) : day} </span>}
        {clockTime(ms)}
      </span>
      <span role="cell" class="level">
        {oneLine(record.level, 12)}
      </span>
      <span role="cell" class="app">
        {oneLine(record.appName, 60)}
      </span>
      <span role="cell" class="message">
        {count === undefined ? '' : <span class="count">{count}×</span>}
        <span class="text">{oneLine(text, maxChars)}</span>
        {error === '' ? '' : <span class="error"> {oneLine(error.split('\n', 1)[0]!.trim(), 160)}</span>}
        {context === undefined ? '' : <span class="context"> {oneLine(JSON.stringify(context), maxChars)}</span>}
      </span>
    </div>
  )
}

/** The day of now, in the time that is shown. */
export function today(): string {
  return dayOf(Date.now())
}
