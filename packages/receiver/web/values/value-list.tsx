import { useEffect } from 'preact/hooks'
import type { LiveFeed } from '../api/live-feed.js'
import { timeOf } from '../api/records.js'
import { fullTime } from '../text/time.js'
import { visible } from '../text/visible.js'
import { momentOf } from '../view/times.js'
import { hashOf, linkTo, parseView, view } from '../view/view.js'
import { EventValues } from './event-values.js'

const list = new EventValues()

interface ValueListProps {
  readonly feed: LiveFeed
  readonly bucket: string
  readonly eventId: number
}

/** The value records of an event: all, or those of the time range that the view names. */
export function ValueList({ feed, bucket, eventId }: ValueListProps) {
  const { since, until } = view.value
  useEffect(() => {
    const load = () => {
      const now = Date.now()
      list.load({ bucket, eventId, since: momentOf(since, now), until: momentOf(until, now) })
    }
    load()
    const stop = feed.listen({ values: (values) => list.take(values), gap: load })
    return () => {
      stop()
      list.end()
    }
  }, [feed, bucket, eventId, since, until])
  const values = list.values.value ?? []
  return (
    <section aria-label={`Values of event ${eventId}`}>
      <p>
        <a href={hashOf({ ...view.value, event: undefined })}>All events</a>
        {list.logs.value > 0 && (
          <>
            {' · '}
            <a href={logsOf(eventId)}>Logs with this event: {list.logs.value.toLocaleString('en')}</a>
          </>
        )}
      </p>
      {list.error.value !== undefined && <p class="problem">{list.error.value}</p>}
      {list.values.value?.length === 0 && <p class="nothing">No value of this event in this time range.</p>}
      {values.length > 0 && (
        <table class="grid">
          <thead>
            <tr>
              <th scope="col">Time</th>
              <th scope="col">Application</th>
              <th scope="col">Environment</th>
              <th scope="col">Version</th>
            </tr>
          </thead>
          <tbody>
            {values.map((value) => (
              <tr key={value.id} data-value={value.id}>
                <td>{fullTime(timeOf(value))}</td>
                <td class="name">{visible(value.appName)}</td>
                <td class="name">{visible(value.env ?? '')}</td>
                <td class="name">{visible(value.appVersion ?? '')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {list.hasMore.value && (
        <p>
          <button type="button" class="quiet" onClick={() => void list.more()}>
            More
          </button>
        </p>
      )}
    </section>
  )
}

/** The logs with the number of an event. */
function logsOf(eventId: number): string {
  return hashOf({ ...parseView(linkTo('logs')), only: [{ field: 'eventId', value: String(eventId) }] })
}
