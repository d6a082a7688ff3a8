import type { QueryError } from '../../src/query/query-error.js'
import { SearchBox } from '../search/search-box.js'
import { TimeRange } from '../view/time-range.js'
import { FilterMenu } from './filter-menu.js'
import { LevelChips } from './level-chips.js'
import type { LogCounts } from './log-counts.js'
import type { LogList } from './log-list.js'
import type { RecordFilter } from './record-filter.js'
import { ViewMenu } from './view-menu.js'

interface ToolbarProps {
  readonly list: LogList
  readonly counts: LogCounts
  readonly bucket: string
  readonly filter: RecordFilter
  /** See `SearchBox`. */
  readonly problem: QueryError | undefined
}

/** Search, levels, filters, time, and what can be done with the view. */
export function Toolbar({ list, counts, bucket, filter, problem }: ToolbarProps) {
  const following = list.hold.value === undefined
  return (
    <div class="toolbar">
      <SearchBox bucket={bucket} rows={() => list.rows} problem={problem} />
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
