import { useEffect, useMemo } from 'preact/hooks'
import type { LiveFeed } from '../api/live-feed.js'
import { session } from '../api/session.js'
import { type BarSeries, type Bars, StackedBars } from '../charts/stacked-bars.js'
import { minuteMs } from '../charts/steps.js'
import { agoOrTime, fullTime } from '../text/time.js'
import { visible } from '../text/visible.js'
import { useNow } from '../view/now.js'
import { SheetTitle } from '../view/sheet-title.js'
import { TimeRange } from '../view/time-range.js'
import { go, hashOf, view } from '../view/view.js'
import { Sparkline } from './sparkline.js'
import { type EventCounts, ValueCounts } from './value-counts.js'
import { ValueList } from './value-list.js'
import { startsOf, type ValueRange, valueRangeOf } from './value-range.js'

const colours = 8
/** Series of the chart, beside that of all others. */
const maxSeries = 24
const counts = new ValueCounts()

interface ValuesProps {
  readonly feed: LiveFeed
  readonly bucket: string
}

/** An event, with the class of its colour. */
interface ShownEvent extends EventCounts {
  readonly colour: string
}

/** Counts per event over a time range, totals, and when each was last seen. With an event in the view, its values. */
export function ValuesPage({ feed, bucket }: ValuesProps) {
  const now = useNow(5000)
  const { since, until, event: open } = view.value
  const lastMinute = Math.floor(now / minuteMs)
  // A range that goes with the time goes on with the minute.
  const range = useMemo(() => valueRangeOf({ since, until }, Date.now()), [since, until, lastMinute])
  useEffect(() => {
    const load = () => counts.load(bucket, range)
    load()
    return feed.listen({ values: (values) => counts.take(values), gap: load })
  }, [feed, bucket, range.since, range.until, range.stepMs])
  useEffect(() => () => counts.end(), [])
  const events = useMemo(
    () =>
      [...counts.events.values()]
        .sort((a, b) => b.total - a.total)
        .map((event, index): ShownEvent => ({ ...event, colour: `series-${index % colours}` })),
    [counts.version.value, counts.loaded.value],
  )
  const shown = open === undefined ? events : events.filter(({ eventId }) => eventId === open)
  const bars = useMemo(() => barsOf(shown, range, now), [events, open, range, now])
  if (counts.error.value !== undefined) return <p class="problem">{counts.error.value}</p>
  if (events.length === 0) {
    return (
      <div class="sheet">
        <SheetTitle title="Values" />
        {counts.loaded.value && (
          <p class="nothing">
            No values yet. <code>track(1001)</code> of the library makes the first one.
          </p>
        )}
      </div>
    )
  }
  const zoom = (from: number, to: number) =>
    go({ since: new Date(from).toISOString(), until: new Date(to).toISOString() })
  return (
    <div class="sheet">
      <SheetTitle title={open === undefined ? 'Values' : `Event ${nameOf(open)}`} />
      <section class="card" aria-label="Values over time">
        <header>
          <h2>Per {stepName(range.stepMs)}</h2>
          <TimeRange usual="Last hour" />
        </header>
        {bars === undefined ? (
          <p class="nothing">This time range ends before it begins.</p>
        ) : (
          <StackedBars bars={bars} height={220} onZoom={zoom} label="Values over time, by event" />
        )}
      </section>
      {open === undefined ? (
        <EventTable events={events} starts={bars?.starts ?? []} now={now} />
      ) : (
        <ValueList feed={feed} bucket={bucket} eventId={open} />
      )}
      {open === undefined && counts.others > 0 && (
        <p class="dim">{counts.others.toLocaleString('en')} values of further events, each less frequent than these.</p>
      )}
    </div>
  )
}

interface EventTableProps {
  readonly events: readonly ShownEvent[]
  /** The steps of the chart. */
  readonly starts: readonly number[]
  readonly now: number
}

function EventTable({ events, starts, now }: EventTableProps) {
  return (
    <table class="grid">
      <thead>
        <tr>
          <th scope="col">Event</th>
          <th scope="col">In this time range</th>
          <th scope="col" class="number">
            Total
          </th>
          <th scope="col">Last seen</th>
        </tr>
      </thead>
      <tbody>
        {events.map((event) => {
          const each = series(event, starts)
          return (
            <tr key={event.eventId} data-event={event.eventId}>
              <th scope="row">
                <span class="whole">
                  <span class={`dot ${event.colour}`} aria-hidden="true" />
                  <a href={hashOf({ ...view.value, event: event.eventId })}>{event.eventId}</a>
                </span>{' '}
                <span class="dim">{visible(session.value?.events?.[event.eventId] ?? '')}</span>
              </th>
              <td class={event.colour}>
                <span class="counted">
                  <Sparkline counts={each} />
                  <span class="dim">{each.reduce((sum, count) => sum + count, 0).toLocaleString('en')}</span>
                </span>
              </td>
              <td class="number">{event.total.toLocaleString('en')}</td>
              <td title={fullTime(event.lastSeen)}>{agoOrTime(event.lastSeen, now)}</td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

/** The most frequent events of the time range each have a colour; the others share one. Undefined for a range without length. */
function barsOf(events: readonly ShownEvent[], range: ValueRange, now: number): Bars | undefined {
  const [from, to] = [range.since, range.until ?? Math.max(now, range.since + 1)]
  if (from >= to) return undefined
  const starts = startsOf(range, to)
  const shown: BarSeries[] = []
  const rest = new Array<number>(starts.length).fill(0)
  for (const event of events) {
    const each = series(event, starts)
    if (each.every((count) => count === 0)) continue
    if (shown.length < maxSeries) shown.push({ name: nameOf(event.eventId), colour: event.colour, counts: each })
    else for (const [step, count] of each.entries()) rest[step]! += count
  }
  return {
    from,
    to,
    starts,
    stepMs: range.stepMs,
    series: [...shown, { name: 'others', colour: 'level-other', counts: rest }],
  }
}

function series({ steps }: EventCounts, starts: readonly number[]): number[] {
  return starts.map((start) => steps.get(start) ?? 0)
}

/** The number of an event, and its name where the catalogue has one. */
function nameOf(eventId: number): string {
  return visible(`${eventId} ${session.value?.events?.[eventId] ?? ''}`.trimEnd())
}

/** `minute`, `5 minutes`, `2 hours`, `10 days` */
function stepName(stepMs: number): string {
  for (const [unit, name] of [
    [1440, 'day'],
    [60, 'hour'],
    [1, 'minute'],
  ] as const) {
    const count = stepMs / minuteMs / unit
    if (count === 1) return name
    if (count > 1 && Number.isInteger(count)) return `${count} ${name}s`
  }
  return 'step'
}
