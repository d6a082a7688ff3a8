import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { countMarks, timeMarks, widthOf } from './marks.js'

export interface BarSeries {
  readonly name: string
  readonly colour: string
  readonly counts: readonly number[]
}

export interface Bars {
  /** The chart begins and ends here, in ms: the first and the last step may be cut. */
  readonly from: number
  readonly to: number
  /** Starts of the steps, in ms, one after another. */
  readonly starts: readonly number[]
  readonly stepMs: number
  /** From the bottom to the top. */
  readonly series: readonly BarSeries[]
}

interface ChartProps {
  readonly bars: Bars
  readonly height: number
  /** The name of the chart for screen readers. */
  readonly label: string
  /** False leaves the axis of counts away. */
  readonly axes?: boolean
  /** Hears the interval that a drag has chosen, in ms. */
  readonly onZoom?: (from: number, to: number) => void
}

const timeAxisHeight = 24
const margin = 8
/** A shorter drag is a click. */
const shortestDrag = 4

/** Bars that stand on each other, as wide as their steps. `colour` of a series is a class. */
export function StackedBars({ bars, height, label, axes = true, onZoom }: ChartProps) {
  const host = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  const [drag, setDrag] = useState<Drag | undefined>(undefined)
  useLayoutEffect(() => {
    const element = host.current!
    const measure = () => setWidth(element.clientWidth)
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  const scale = scaleOf(bars, { width, height, axes })
  // What was dragged over stays marked until the chart shows nothing else.
  const selected = drag && {
    left: scale.x(Math.min(drag.start, drag.end)),
    right: scale.x(Math.max(drag.start, drag.end)),
  }
  const isAll = selected !== undefined && selected.left < scale.left + 1 && selected.right > scale.right - 1
  const isOver = isAll && drag?.isDone === true
  useEffect(() => {
    if (isOver) setDrag(undefined)
  }, [isOver])

  const timeAt = (event: PointerEvent) => scale.time(event.clientX - host.current!.getBoundingClientRect().left)
  const begin = (event: PointerEvent) => {
    if (onZoom === undefined || event.button !== 0) return
    host.current!.setPointerCapture(event.pointerId)
    setDrag({ start: timeAt(event), end: timeAt(event), isDone: false })
  }
  const move = (event: PointerEvent) => {
    if (drag?.isDone === false) setDrag({ ...drag, end: timeAt(event) })
  }
  const finish = (event: PointerEvent) => {
    if (drag?.isDone !== false || onZoom === undefined) return
    const [from, to] = [drag.start, timeAt(event)].sort((a, b) => a - b) as [number, number]
    if (scale.x(to) - scale.x(from) <= shortestDrag) return setDrag(undefined)
    setDrag({ start: from, end: to, isDone: true })
    onZoom(from, to)
  }
  return (
    <div
      class={onZoom === undefined ? 'chart' : 'chart draggable'}
      ref={host}
      role="img"
      aria-label={label}
      style={{ height: `${height}px` }}
      onPointerDown={begin}
      onPointerMove={move}
      onPointerUp={finish}
      onPointerCancel={() => setDrag(undefined)}
    >
      {width > 0 && (
        <svg width={width} height={height} aria-hidden="true">
          <rect
            class="plot"
            x={scale.left}
            y={scale.top}
            width={scale.right - scale.left}
            height={scale.bottom - scale.top}
          />
          {axes &&
            countMarks(scale.most, scale.bottom - scale.top).map(({ count, text }) => (
              <g key={count}>
                <path class="line" d={`M${scale.left} ${scale.y(count)}H${scale.right}`} />
                <text x={scale.left - margin} y={scale.y(count)} dy="0.35em" text-anchor="end">
                  {text}
                </text>
              </g>
            ))}
          {pathsOf(bars, scale).map(({ name, colour, path }) => (
            <path key={`${name} ${colour}`} class={`bars ${colour}`} d={path} />
          ))}
          {timeMarks({ ...bars, width, x: scale.x }).map(({ ms, text }) => (
            <text key={ms} class="time" x={scale.x(ms)} y={height - margin} text-anchor="middle">
              {text}
            </text>
          ))}
          {selected !== undefined && !isOver && (
            <rect
              class="selected"
              x={selected.left}
              y={scale.top}
              width={selected.right - selected.left}
              height={scale.bottom - scale.top}
            />
          )}
        </svg>
      )}
    </div>
  )
}

/** Times in ms. */
interface Drag {
  readonly start: number
  readonly end: number
  readonly isDone: boolean
}

type Scale = ReturnType<typeof scaleOf>

interface Size {
  readonly width: number
  readonly height: number
  readonly axes: boolean
}

/** Where times and counts are, in pixels. Times outside of the chart are at its edges. */
function scaleOf({ from, to, starts, series }: Bars, { width, height, axes }: Size) {
  const most = Math.max(1, ...starts.map((_, step) => series.reduce((sum, { counts }) => sum + counts[step]!, 0)))
  const [top, bottom] = [axes ? margin : 0, height - timeAxisHeight]
  const left = axes ? Math.max(...countMarks(most, bottom - top).map(({ text }) => widthOf(text))) + 2 * margin : 0
  const right = Math.max(left + 1, width - (axes ? margin : 0))
  return {
    left,
    right,
    top,
    bottom,
    /** The highest bar. */
    most,
    x: (ms: number) => left + ((Math.min(Math.max(ms, from), to) - from) / (to - from)) * (right - left),
    y: (count: number) => bottom - (count / most) * (bottom - top),
    time: (x: number) => from + ((Math.min(Math.max(x, left), right) - left) / (right - left)) * (to - from),
  }
}

/** The bars of each series. Each bar begins and ends with its step, within the chart; wide ones have a pixel between them. */
function pathsOf({ starts, stepMs, series }: Bars, { x, y }: Scale) {
  const below = starts.map(() => 0)
  return series.map(({ name, colour, counts }) => {
    const path = starts.map((start, step) => {
      const count = counts[step]!
      if (count === 0) return ''
      const [left, right] = [Math.round(x(start)), Math.round(x(start + stepMs))]
      const bottom = y(below[step]!)
      below[step]! += count
      const gap = right - left > 3 ? 1 : 0
      return `M${left} ${bottom}V${y(below[step]!)}h${Math.max(1, right - left - gap)}V${bottom}z`
    })
    return { name, colour, path: path.join('') }
  })
}
