import { useEffect, useState } from 'preact/hooks'
import { type LogRecord, timeOf } from '../api/records.js'
import { type Bars, StackedBars } from '../charts/stacked-bars.js'
import { go } from '../view/view.js'
import { levelClass } from './levels.js'
import type { LogList } from './log-list.js'

const bins = 90
const redrawMs = 1000
/** From the bottom of a bar to its top. */
const classes = ['level-trace', 'level-debug', 'level-other', 'level-info', 'level-warn', 'level-error', 'level-fatal']

/** The loaded records over time, by level. A drag chooses a time range. */
export function Histogram({ list }: { readonly list: LogList }) {
  const [bars, setBars] = useState<Bars | undefined>(undefined)
  useEffect(() => {
    let drawn = -1
    const draw = () => {
      if (drawn === list.version.value || document.hidden) return
      drawn = list.version.value
      setBars(barsOf(list.rows))
    }
    const stop = list.version.subscribe((version) => {
      if (version <= 1 || drawn <= 1) queueMicrotask(draw)
    })
    const timer = setInterval(draw, redrawMs)
    draw()
    return () => {
      stop()
      clearInterval(timer)
    }
  }, [list])
  if (bars === undefined || list.rows.length === 0) return null
  const zoom = (from: number, to: number) =>
    go({ since: new Date(from).toISOString(), until: new Date(to).toISOString(), around: undefined, id: undefined })
  return (
    <div class="histogram">
      <StackedBars bars={bars} height={60} axes={false} onZoom={zoom} label="Loaded records over time, by level" />
    </div>
  )
}

/** Counts of records in intervals of the same length. */
export function barsOf(rows: readonly LogRecord[]): Bars {
  const times = rows.map(timeOf)
  let first = Number.POSITIVE_INFINITY
  let last = Number.NEGATIVE_INFINITY
  for (const time of times) {
    if (time < first) first = time
    if (time > last) last = time
  }
  const width = Math.max(1000, (last - first + 1) / bins)
  const counts = new Map(classes.map((name) => [name, new Array<number>(bins).fill(0)]))
  rows.forEach((record, index) => {
    const bin = Math.min(bins - 1, Math.floor((times[index]! - first) / width))
    counts.get(levelClass(record.level))![bin]!++
  })
  return {
    times: Array.from({ length: bins }, (_, bin) => (first + (bin + 0.5) * width) / 1000),
    series: [...counts].map(([colour, each]) => ({ name: colour, colour, counts: each })),
  }
}
