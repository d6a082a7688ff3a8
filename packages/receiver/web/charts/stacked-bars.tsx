import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import { inUtc } from '../text/time.js'

export interface BarSeries {
  readonly name: string
  readonly colour: string
  readonly counts: readonly number[]
}

export interface Bars {
  /** Starts of the intervals, in seconds. */
  readonly times: readonly number[]
  readonly series: readonly BarSeries[]
}

interface ChartProps {
  readonly bars: Bars
  readonly height: number
  /** The name of the chart for screen readers. */
  readonly label: string
  readonly axes?: boolean
  /** Hears the interval that a drag has chosen, in ms. */
  readonly onZoom?: (from: number, to: number) => void
}

/** Bars that stand on each other, over time. `colour` of a series is a class. */
export function StackedBars({ bars, height, label, axes = true, onZoom }: ChartProps) {
  const host = useRef<HTMLDivElement>(null)
  const chart = useRef<uPlot | undefined>(undefined)
  const zoom = useRef(onZoom)
  zoom.current = onZoom
  const shape = `${bars.series.map(({ name, colour }) => `${name} ${colour}`).join('\n')}\n${height} ${inUtc.value}`

  useLayoutEffect(() => {
    const element = host.current!
    const make = () => {
      chart.current?.destroy()
      const options = optionsOf(bars, { element, height, axes, zoom: (from, to) => zoom.current?.(from, to) })
      chart.current = new uPlot(options, stacked(bars), element)
    }
    make()
    const observer = new ResizeObserver(() => chart.current?.setSize({ width: element.clientWidth, height }))
    observer.observe(element)
    const dark = matchMedia('(prefers-color-scheme: dark)')
    dark.addEventListener('change', make)
    return () => {
      observer.disconnect()
      dark.removeEventListener('change', make)
      chart.current?.destroy()
      chart.current = undefined
    }
  }, [shape])

  useEffect(() => chart.current?.setData(stacked(bars)), [bars])

  return <div class="chart" ref={host} role="img" aria-label={label} />
}

interface ChartSetting {
  readonly element: HTMLElement
  readonly height: number
  readonly axes: boolean
  readonly zoom: (from: number, to: number) => void
}

function optionsOf(bars: Bars, { element, height, axes, zoom }: ChartSetting): uPlot.Options {
  const quiet = colourOf('chart-axis', element)
  const grid = colourOf('chart-grid', element)
  const axis = { stroke: quiet, grid: { stroke: grid, width: 1 }, ticks: { show: false }, font: '11px system-ui' }
  return {
    width: element.clientWidth,
    height,
    padding: axes ? [8, 8, 0, 0] : [0, 0, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false } },
    tzDate: (seconds) => (inUtc.value ? uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC') : new Date(seconds * 1000)),
    scales: {
      x: { range: ({ data: [times] }) => [times[0]! - halfStep(times), times.at(-1)! + halfStep(times)] },
      y: { range: (_chart, _low, high) => [0, Math.max(1, high)] },
    },
    axes: [
      { ...axis, grid: { show: false }, size: 24, values: clockValues },
      { ...axis, show: axes, size: 44, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000] },
    ],
    series: [
      {},
      ...bars.series.toReversed().map(({ name, colour }) => {
        const fill = colourOf(colour, element)
        return {
          label: name,
          fill,
          stroke: fill,
          width: 0,
          points: { show: false },
          paths: uPlot.paths.bars!({ size: [0.8, 60] }),
        }
      }),
    ],
    hooks: {
      setSelect: [
        ({ select, posToVal }) => {
          if (select.width > 4)
            zoom(posToVal(select.left, 'x') * 1000, posToVal(select.left + select.width, 'x') * 1000)
        },
      ],
    },
  }
}

/** Half of the width of an interval. */
function halfStep(times: ArrayLike<number>): number {
  return (times[1]! - times[0]!) / 2
}

/** Times in 24 hours, with seconds where the marks stand closer than a minute. */
function clockValues(_chart: uPlot, marks: number[], _axis: number, _space: number, step: number): string[] {
  return marks.map((seconds) => {
    const time = new Date(seconds * 1000)
    const shifted = inUtc.value ? time : new Date(time.getTime() - time.getTimezoneOffset() * 60_000)
    const text = shifted.toISOString()
    if (step >= 86_400) return text.slice(5, 10)
    return step < 60 ? text.slice(11, 19) : text.slice(11, 16)
  })
}

/** uPlot draws series over each other: the first drawn is the sum of all, the last only its own. */
function stacked({ times, series }: Bars): uPlot.AlignedData {
  const sums: number[][] = []
  let below = new Array<number>(times.length).fill(0)
  for (const { counts } of series) {
    below = below.map((sum, index) => sum + counts[index]!)
    sums.unshift(below)
  }
  return [[...times], ...sums]
}

/** The colour of a class, as a canvas takes it. */
function colourOf(name: string, parent: Element): string {
  const probe = document.createElement('i')
  probe.className = name
  parent.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}
