import { useMemo } from 'preact/hooks'
import type { LogRecord } from '../api/records.js'
import { fullTime } from '../text/time.js'
import { visible } from '../text/visible.js'
import { go, view } from '../view/view.js'
import { levelClass, levelOrder } from './levels.js'
import type { LogCounts } from './log-counts.js'
import type { LogList } from './log-list.js'

const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

interface ChipsProps {
  readonly list: LogList
  readonly counts: LogCounts
}

/** A button for each level, with the number of its records. Without a pressed one all levels are shown. */
export function LevelChips({ list, counts }: ChipsProps) {
  const { levels } = view.value
  const totals = counts.totals.value
  const loaded = useMemo(() => numbersOf(list.rows), [list.version.value])
  const numbers = totals?.numbers ?? loaded
  const since = totals?.since === undefined ? '' : ` since ${fullTime(Date.parse(totals.since))}`
  const kind = totals === undefined ? 'of the loaded records' : `records${since}`
  const toggle = (level: string) =>
    go({ levels: levels.includes(level) ? levels.filter((other) => other !== level) : [...levels, level] })
  return (
    <div role="group" class="chips" aria-label="Levels">
      {levelOrder([...numbers.keys(), ...levels]).map((level) => {
        const count = numbers.get(level) ?? 0
        return (
          <button
            type="button"
            key={level}
            class={`chip ${levelClass(level)}`}
            aria-pressed={levels.includes(level)}
            title={`${count.toLocaleString('en')} ${kind}`}
            onClick={() => toggle(level)}
          >
            {visible(level)}
            {count > 0 && (
              <span class="dim" aria-hidden="true">
                {' '}
                {short.format(count)}
              </span>
            )}
          </button>
        )
      })}
    </div>
  )
}

function numbersOf(rows: readonly LogRecord[]): Map<string, number> {
  const numbers = new Map<string, number>()
  for (const { level } of rows) numbers.set(level, (numbers.get(level) ?? 0) + 1)
  return numbers
}
