import { useEffect, useRef, useState } from 'preact/hooks'
import { go, view } from '../view/view.js'
import { FilterMenu } from './filter-menu.js'
import { LevelChips } from './level-chips.js'
import type { LogCounts } from './log-counts.js'
import type { LogList } from './log-list.js'
import type { RecordFilter } from './record-filter.js'
import { ViewMenu } from './view-menu.js'

const typingMs = 200
const ranges = [
  ['', 'All time'],
  ['-5m', 'Last 5 minutes'],
  ['-15m', 'Last 15 minutes'],
  ['-1h', 'Last hour'],
  ['-24h', 'Last 24 hours'],
  ['-7d', 'Last 7 days'],
] as const

interface ToolbarProps {
  readonly list: LogList
  readonly counts: LogCounts
  readonly bucket: string
  readonly filter: RecordFilter
}

/** Search, levels, filters, time, and what can be done with the view. */
export function Toolbar({ list, counts, bucket, filter }: ToolbarProps) {
  const following = list.hold.value === undefined
  return (
    <div class="toolbar">
      <SearchBox />
      <LevelChips list={list} counts={counts} />
      <FilterMenu list={list} bucket={bucket} filter={filter} />
      <TimeRange />
      <ViewMenu bucket={bucket} filter={filter} />
      <button
        type="button"
        class="follow"
        aria-pressed={following}
        onClick={() => (following ? list.stop('pause') : void list.follow())}
      >
        Follow
      </button>
    </div>
  )
}

function SearchBox() {
  const { text } = view.value
  const [typed, setTyped] = useState(text)
  const timer = useRef(0)
  const known = useRef(text)
  // Another view has another search. The person's own typing must not be overwritten.
  useEffect(() => {
    if (known.current !== text) setTyped(text)
    known.current = text
  }, [text])
  const search = (value: string) => {
    known.current = value
    go({ text: value, around: undefined, id: undefined }, { replace: true })
  }
  return (
    <input
      type="search"
      role="searchbox"
      aria-label="Search messages"
      placeholder="Search words… -without"
      maxLength={900}
      value={typed}
      onInput={({ currentTarget: { value } }) => {
        setTyped(value)
        clearTimeout(timer.current)
        timer.current = window.setTimeout(search, typingMs, value)
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter') search(event.currentTarget.value)
        if (event.key === 'Escape') event.currentTarget.blur()
      }}
    />
  )
}

function TimeRange() {
  const { since, until } = view.value
  const preset = until === undefined && ranges.some(([value]) => value === (since ?? ''))
  return (
    <>
      <select
        aria-label="Time range"
        value={preset ? (since ?? '') : 'custom'}
        onChange={({ currentTarget: { value } }) => {
          if (value === 'custom')
            go({ since: new Date(Date.now() - 3_600_000).toISOString(), until: new Date().toISOString() })
          else go({ since: value || undefined, until: undefined, around: undefined, id: undefined })
        }}
      >
        {ranges.map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
        <option value="custom">From … to …</option>
      </select>
      {!preset && (
        <span class="span">
          <Moment label="From" value={since} onChange={(written) => go({ since: written })} />
          <Moment label="To" value={until} onChange={(written) => go({ until: written })} />
        </span>
      )}
    </>
  )
}

interface MomentProps {
  readonly label: string
  readonly value: string | undefined
  readonly onChange: (written: string | undefined) => void
}

function Moment({ label, value, onChange }: MomentProps) {
  const utc = view.value.utc
  const ms = value === undefined ? Number.NaN : Date.parse(value)
  const offset = Number.isNaN(ms) || utc ? 0 : new Date(ms).getTimezoneOffset() * 60_000
  const shown = Number.isNaN(ms) ? '' : new Date(ms - offset).toISOString().slice(0, 19)
  return (
    <input
      type="datetime-local"
      step="1"
      aria-label={`${label} (${utc ? 'UTC' : 'local time'})`}
      value={shown}
      onChange={({ currentTarget }) => {
        const written = Date.parse(utc ? `${currentTarget.value}Z` : currentTarget.value)
        onChange(Number.isNaN(written) ? undefined : new Date(written).toISOString())
      }}
    />
  )
}
