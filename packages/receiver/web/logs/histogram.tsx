import { useEffect, useState } from 'preact/hooks'
import type { LogRecord } from '../api/records.js'
import { type Bars, StackedBars } from '../charts/stacked-bars.js'
import { fullTime } from '../text/time.js'
import { go } from '../view/view.js'
import { barSpan, barTime, type Span } from './bar-span.js'
import { levelClass } from './levels.js'
import { type LogCounts, maxBars } from './log-counts.js'
import type { LogList } from './log-list.js'
import type { RecordFilter } from './record-filter.js'

const redrawMs = 1000
const minuteMs = 60_000
/** From the bottom of a bar to its top. */
const classes = ['level-trace', 'level-debug', 'level-other', 'level-info', 'level-warn', 'level-error', 'level-fatal']

interface HistogramProps {
  readonly list: LogList
  readonly counts: LogCounts
  readonly filter: RecordFilter
}

interface Drawing {
  readonly bars: Bars
  /** The records of the bars. */
  readonly caption: string
}

/** The records of the view over time, by level. A drag chooses a time range. */
export function Histogram({ list, counts, filter }: HistogramProps) {
  const [drawing, setDrawing] = useState<Drawing | undefined>(undefined)
  useEffect(() => {
    let timer: number | undefined
    let drawnAt = Number.NEGATIVE_INFINITY
    const draw = () => {
      timer = undefined
      drawnAt = performance.now()
      setDrawing(drawingOf({ list, counts, filter }))
    }
    const change = () => {
      timer ??= window.setTimeout(draw, Math.max(0, drawnAt + redrawMs - performance.now()))
    }
    const stops = [list.version, list.waiting, counts.totals].map((each) => each.subscribe(change))
    return () => {
      for (const stop of stops) stop()
      clearTimeout(timer)
    }
  }, [list, counts, filter])
  if (drawing === undefined) return null
  const { bars, caption } = drawing
  const zoom = (from: number, to: number) =>
    go({ since: new Date(from).toISOString(), until: new Date(to).toISOString(), around: undefined, id: undefined })
  return (
    <div class="histogram">
      <StackedBars bars={bars} height={60} axes={false} onZoom={zoom} label={`${caption} over time, by level`} />
      <p class="dim" aria-hidden="true">
        {caption}
      </p>
    </div>
  )
}

/**
 * The bars of the receiver's counts. Those of the loaded records are finer where the span is short and all records are there, and the only ones
 * where the receiver cannot count.
 */
function drawingOf({ list, counts, filter }: HistogramProps): Drawing | undefined {
  const { whole } = list
  const loaded = whole ?? list.rows
  const span = barSpan(loaded.map(barTime), filter)
  const isFine = whole !== undefined && span !== undefined && span.last - span.first <= maxBars * minuteMs
  if (isFine || counts.totals.value === undefined) {
    if (span === undefined) return undefined
    const { length } = loaded
    const records = whole === undefined ? `${length.toLocaleString('en')} of the loaded records` : recordsOf(length)
    const bars = loadedBars(loaded, span)
    return { bars, caption: `${records}${outside(bars, length)}` }
  }
  const bars = counts.total === 0 ? undefined : countedBars(counts)
  const since = counts.since === undefined ? '' : ` counted since ${fullTime(Date.parse(counts.since))}`
  return bars && { bars, caption: `${recordsOf(counts.total)}${outside(bars, counts.total)}${since}` }
}

/** What the bars leave out. */
function outside({ series }: Bars, total: number): string {
  const left = series.reduce((rest, { counts }) => counts.reduce((less, count) => less - count, rest), total)
  return left > 0 ? `, ${left.toLocaleString('en')} of them before 2000 or in the future` : ''
}

/** Counts of records in intervals of the same length. */
function loadedBars(rows: readonly LogRecord[], { first, last }: Span): Bars {
  const width = Math.max(1000, (last - first + 1) / maxBars)
  const times = Array.from({ length: maxBars }, (_, bar) => first + (bar + 0.5) * width)
  const series = emptySeries(maxBars)
  for (const record of rows) {
    const bar = Math.floor((barTime(record) - first) / width)
    if (bar >= 0 && bar < maxBars) series.get(levelClass(record.level))![bar]!++
  }
  return barsOf(times, series)
}

function countedBars(counts: LogCounts): Bars | undefined {
  const steps = counts.steps(Date.now())
  const { stepMs } = counts
  if (steps.length === 0) return undefined
  // A chart needs two intervals to know their width.
  if (steps.length === 1) steps.push({ start: steps[0]!.start + stepMs, counts: new Map() })
  const series = emptySeries(steps.length)
  steps.forEach((step, bar) => {
    for (const [level, count] of step.counts) series.get(levelClass(level))![bar]! += count
  })
  return barsOf(
    steps.map(({ start }) => start + stepMs / 2),
    series,
  )
}

function emptySeries(length: number): Map<string, number[]> {
  return new Map(classes.map((name) => [name, new Array<number>(length).fill(0)]))
}

function barsOf(times: readonly number[], series: ReadonlyMap<string, readonly number[]>): Bars {
  return {
    times: times.map((ms) => ms / 1000),
    series: [...series].map(([colour, counts]) => ({ name: colour, colour, counts })),
  }
}

function recordsOf(count: number): string {
  return `${count.toLocaleString('en')} ${count === 1 ? 'record' : 'records'}`
}
