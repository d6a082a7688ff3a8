import { useEffect, useState } from 'preact/hooks'
import type { LogRecord } from '../api/records.js'
import { type Bars, StackedBars } from '../charts/stacked-bars.js'
import { maxBars, minuteMs } from '../charts/steps.js'
import { fullTime } from '../text/time.js'
import { go } from '../view/view.js'
import { barSpan, barTime } from './bar-span.js'
import { levelClass } from './levels.js'
import type { LogCounts } from './log-counts.js'
import type { LogList } from './log-list.js'
import type { RecordFilter } from './record-filter.js'

const redrawMs = 250
/** Bars of the loaded records have at least this length. */
const shortestMs = 1000
/** The last bar grows with the time, also while nothing arrives. */
const clockMs = 5000
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
    const clock = setInterval(change, clockMs)
    const stops = [list.version, list.waiting, counts.totals].map((each) => each.subscribe(change))
    return () => {
      for (const stop of stops) stop()
      clearInterval(clock)
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
 * The bars of the receiver's counts. The bars of the loaded records are finer where the span is short and all records are there, and the only ones
 * where the receiver cannot count.
 */
function drawingOf({ list, counts, filter }: HistogramProps): Drawing | undefined {
  const { whole } = list
  const loaded = whole ?? list.rows
  const range = loadedRange(loaded, filter)
  const isFine = whole !== undefined && range !== undefined && range.to - range.from <= maxBars * minuteMs
  if (isFine || counts.totals.value === undefined) {
    if (range === undefined) return undefined
    const { length } = loaded
    const records = whole === undefined ? `${length.toLocaleString('en')} of the loaded records` : recordsOf(length)
    const bars = loadedBars(loaded, range)
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

/** The time range of the view, or that of the loaded records, as far as a bar of a second or more can show it. Undefined without records. */
function loadedRange(rows: readonly LogRecord[], filter: RecordFilter) {
  const span = barSpan(rows.map(barTime), filter)
  if (span === undefined) return undefined
  const from = filter.since ?? span.first
  const last = Math.max(span.last + 1, filter.since === undefined ? 0 : Date.now())
  return { from, to: filter.until ?? Math.max(last, from + maxBars * shortestMs) }
}

/** Counts of records in steps of the same length. */
function loadedBars(rows: readonly LogRecord[], { from, to }: Pick<Bars, 'from' | 'to'>): Bars {
  const stepMs = Math.max(shortestMs, (to - from) / maxBars)
  const length = Math.ceil((to - from) / stepMs)
  const series = emptySeries(length)
  for (const record of rows) {
    const bar = Math.floor((barTime(record) - from) / stepMs)
    if (bar >= 0 && bar < length) series.get(levelClass(record.level))![bar]!++
  }
  const starts = Array.from({ length }, (_, bar) => from + bar * stepMs)
  return { from, to, starts, stepMs, series: seriesOf(series) }
}

function countedBars(counts: LogCounts): Bars | undefined {
  const steps = counts.steps(Date.now())
  if (steps === undefined) return undefined
  const { from, to, list } = steps
  const series = emptySeries(list.length)
  list.forEach((step, bar) => {
    for (const [level, count] of step.counts) series.get(levelClass(level))![bar]! += count
  })
  return { from, to, starts: list.map(({ start }) => start), stepMs: counts.stepMs, series: seriesOf(series) }
}

function emptySeries(length: number): Map<string, number[]> {
  return new Map(classes.map((name) => [name, new Array<number>(length).fill(0)]))
}

function seriesOf(series: ReadonlyMap<string, readonly number[]>): Bars['series'] {
  return [...series].map(([colour, counts]) => ({ name: colour, colour, counts }))
}

function recordsOf(count: number): string {
  return `${count.toLocaleString('en')} ${count === 1 ? 'record' : 'records'}`
}
