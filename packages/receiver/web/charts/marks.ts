import { inUtc } from '../text/time.js'
import { dayMs, minuteMs } from './steps.js'

/** As in the style sheet. */
const font = '11px system-ui'
/** Between two labels, in pixels. */
const gap = 12
const lineHeight = 28
const secondMs = 1000
const hourMs = 60 * minuteMs
const ruler = document.createElement('canvas').getContext('2d')!
const shortCount = new Intl.NumberFormat('en', { notation: 'compact' })

/** The width of a label, in pixels. */
export function widthOf(text: string): number {
  ruler.font = font
  return ruler.measureText(text).width
}

/** Counts for the axis, from 0 on: 1, 2 or 5 times a power of ten apart. */
export function countMarks(most: number, height: number): { readonly count: number; readonly text: string }[] {
  const atLeast = Math.max(1, (most * lineHeight) / height)
  const power = 10 ** Math.floor(Math.log10(atLeast))
  const step = [1, 2, 5, 10].map((digit) => digit * power).find((each) => each >= atLeast)!
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, index) => {
    return { count: index * step, text: shortCount.format(index * step) }
  })
}

/** Distances between two marks: those up to a day in ms, others in months. */
const distances = [
  ...[1, 2, 5, 10, 15, 30].map((count) => ({ ms: count * secondMs })),
  ...[1, 2, 5, 10, 15, 30].map((count) => ({ ms: count * minuteMs })),
  ...[1, 2, 3, 6, 12].map((count) => ({ ms: count * hourMs })),
  ...[1, 2, 5, 10].map((count) => ({ ms: count * dayMs })),
  ...[1, 3, 6].map((months) => ({ months, ms: months * 30 * dayMs })),
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].map((years) => ({ months: 12 * years, ms: years * 365 * dayMs })),
]

interface TimeAxis {
  readonly from: number
  readonly to: number
  /** Of the whole chart, in pixels. */
  readonly width: number
  readonly x: (ms: number) => number
}

interface TimeMark {
  readonly ms: number
  readonly text: string
}

/** Round times for the axis, in local time or UTC. None overlaps another, or the edge of the chart. */
export function timeMarks({ from, to, width, x }: TimeAxis): TimeMark[] {
  const apart = widthOf('00:00:00') + gap
  const fitting = distances.find(({ ms }) => x(from + ms) - x(from) >= apart || ms > to - from) ?? distances.at(-1)!
  const marks: TimeMark[] = []
  let end = 0
  for (const ms of roundTimes({ from, to }, fitting)) {
    const text = labelOf(ms, fitting.ms)
    const half = widthOf(text) / 2
    if (x(ms) - half < end || x(ms) + half > width) continue
    marks.push({ ms, text })
    end = x(ms) + half + gap / 2
  }
  return marks
}

/** The times of a clock that are multiples of a distance. */
function roundTimes({ from, to }: Pick<TimeAxis, 'from' | 'to'>, { ms, months }: { ms: number; months?: number }) {
  const first = shifted(from)
  const date = new Date(first)
  const firstMonth = date.getUTCFullYear() * 12 + date.getUTCMonth()
  const times: number[] = []
  for (let index = 0; ; index++) {
    const clock =
      months === undefined
        ? (Math.ceil(first / ms) + index) * ms
        : new Date(0).setUTCFullYear(0, (Math.ceil(firstMonth / months) + index) * months, 1)
    const time = fromClock(clock)
    // Not a number: past the last day of the calendar.
    if (!(time <= to)) return times
    if (time >= from) times.push(time)
  }
}

function labelOf(ms: number, distance: number): string {
  const [day, time] = new Date(shifted(ms)).toISOString().split('T') as [string, string]
  if (distance >= 365 * dayMs) return day.slice(0, -6)
  if (distance >= 30 * dayMs) return day.slice(0, -3)
  if (distance >= dayMs || time.startsWith('00:00:00')) return day.slice(-5)
  return distance < minuteMs ? time.slice(0, 8) : time.slice(0, 5)
}

/** The time of the clock that is shown, as if it were in UTC. */
function shifted(ms: number): number {
  return inUtc.value ? ms : ms - new Date(ms).getTimezoneOffset() * minuteMs
}

/** The time at which the clock shows this; NaN for none. */
function fromClock(clock: number): number {
  if (inUtc.value) return clock
  const guess = clock + new Date(clock).getTimezoneOffset() * minuteMs
  return clock + new Date(guess).getTimezoneOffset() * minuteMs
}
