import { useEffect, useRef, useState } from 'preact/hooks'
import { TimeRange } from '../view/time-range.js'
import { go, view } from '../view/view.js'
import { FilterMenu } from './filter-menu.js'
import { LevelChips } from './level-chips.js'
import type { LogCounts } from './log-counts.js'
import type { LogList } from './log-list.js'
import type { RecordFilter } from './record-filter.js'
import { ViewMenu } from './view-menu.js'

const typingMs = 200

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
      <TimeRange usual="All time" />
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
  // A view that is left before the search has begun keeps its address.
  useEffect(() => () => clearTimeout(timer.current), [])
  const search = (value: string) => {
    clearTimeout(timer.current)
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
