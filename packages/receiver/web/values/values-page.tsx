import { useEffect, useMemo, useState } from 'preact/hooks'
import type { LiveFeed } from '../api/live-feed.js'
import { session } from '../api/session.js'
import { type BarSeries, type Bars, StackedBars } from '../charts/stacked-bars.js'
import { agoOrTime, fullTime } from '../text/time.js'
import { visible } from '../text/visible.js'
import { SheetTitle } from '../view/sheet-title.js'
import { hashOf, linkTo, parseView } from '../view/view.js'
import { Sparkline } from './sparkline.js'
import { type EventCounts, series, ValueCounts } from './value-counts.js'

const minutes = 60
const colours = 8
/** Series of the chart, beside that of all others. */
const maxSeries = 24
const counts = new ValueCounts()

interface ValuesProps {
  readonly feed: LiveFeed
  readonly bucket: string
}

/** Counts per event per minute of the last hour, totals, and when each was last seen. */
export function ValuesPage({ feed, bucket }: ValuesProps) {
  const now = useNow(5000)
  useEffect(() => {
    const load = () => counts.load(bucket, minutes)
    load()
    const stop = feed.listen({ values: (values) => counts.take(values), gap: load })
    return () => {
      stop()
      counts.end()
    }
  }, [feed, bucket])
  const lastMinute = Math.floor(now / 60_000)
  const events = useMemo(
    () => [...counts.events.values()].sort((a, b) => b.total - a.total),
    [counts.version.value, counts.loaded.value],
  )
  const bars = useMemo(() => barsOf(events, lastMinute), [counts.version.value, events, lastMinute])
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
  return (
    <div class="sheet">
      <SheetTitle title="Values" />
      <section class="card" aria-label="Values per minute">
        <h2>Per minute, last hour</h2>
        <StackedBars bars={bars} height={220} label="Values per minute of the last hour, by event" />
      </section>
      <table class="grid">
        <thead>
          <tr>
            <th scope="col">Event</th>
            <th scope="col">Last hour</th>
            <th scope="col" class="number">
              Total
            </th>
            <th scope="col">Last seen</th>
          </tr>
        </thead>
        <tbody>
          {events.map((event, index) => (
            <tr key={event.eventId} data-event={event.eventId}>
              <th scope="row">
                <span class="whole">
                  <span class={`dot ${colourOf(index)}`} aria-hidden="true" />
                  <a href={logsOf(event.eventId)}>{event.eventId}</a>
                </span>{' '}
                <span class="dim">{visible(session.value?.events?.[event.eventId] ?? '')}</span>
              </th>
              <td class={colourOf(index)}>
                <Sparkline counts={series(event, { lastMinute, length: minutes })} />
              </td>
              <td class="number">{event.total.toLocaleString('en')}</td>
              <td title={fullTime(event.lastSeen)}>{agoOrTime(event.lastSeen, now)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {counts.others > 0 && (
        <p class="dim">{counts.others.toLocaleString('en')} values of further events, each less frequent than these.</p>
      )}
    </div>
  )
}

/** The most frequent events of the hour each have a colour; the others share one. */
function barsOf(events: readonly EventCounts[], lastMinute: number): Bars {
  const shown: BarSeries[] = []
  const rest = new Array<number>(minutes).fill(0)
  events.forEach((event, index) => {
    const each = series(event, { lastMinute, length: minutes })
    if (each.every((count) => count === 0)) return
    if (shown.length < maxSeries) {
      const name = visible(`${event.eventId} ${session.value?.events?.[event.eventId] ?? ''}`.trimEnd())
      shown.push({ name, colour: colourOf(index), counts: each })
    } else for (const [minute, count] of each.entries()) rest[minute]! += count
  })
  const times = Array.from({ length: minutes }, (_, index) => (lastMinute - minutes + 1 + index) * 60)
  return { times, series: [...shown, { name: 'others', colour: 'level-other', counts: rest }] }
}

/** The class of an event's colour. */
function colourOf(index: number): string {
  return `series-${index % colours}`
}

/** The logs with the number of an event. */
function logsOf(eventId: number): string {
  return hashOf({ ...parseView(linkTo('logs')), only: [{ field: 'eventId', value: String(eventId) }] })
}

/** The time of now, read again every few seconds. */
function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return now
}
