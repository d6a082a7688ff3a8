import { useEffect } from 'preact/hooks'
import type { LiveFeed } from '../api/live-feed.js'
import { fullTime } from '../text/time.js'
import { visible } from '../text/visible.js'
import { Gaps } from './gaps.js'

const gaps = new Gaps()

interface GapListProps {
  readonly feed: LiveFeed
  readonly bucket: string
}

/** The records that applications have lost, as their libraries reported in the logs. */
export function GapList({ feed, bucket }: GapListProps) {
  useEffect(() => {
    const abort = new AbortController()
    const load = () => void gaps.load(bucket, abort.signal)
    load()
    const end = feed.listen({ logs: (records) => gaps.take(records), gap: load })
    return () => {
      end()
      abort.abort()
    }
  }, [feed, bucket])
  return (
    <section class="card" aria-label="Gaps">
      <h2>Gaps</h2>
      {gaps.error.value !== undefined && <p class="problem">{gaps.error.value}</p>}
      {gaps.list.value.length === 0 ? (
        <p class="dim">No application has reported lost records.</p>
      ) : (
        <table class="grid">
          <thead>
            <tr>
              <th scope="col">Application</th>
              <th scope="col" class="number">
                Lost
              </th>
              <th scope="col">Reason</th>
              <th scope="col">From</th>
              <th scope="col">To</th>
            </tr>
          </thead>
          <tbody>
            {gaps.list.value.map(({ id, app, kind, count, reasons, from, to }) => (
              <tr key={id} data-gap={id}>
                <th scope="row" class="name">
                  {visible(app.slice(0, 100))}
                </th>
                <td class="number">
                  {count.toLocaleString('en')} {kind === 'log' ? 'logs' : 'values'}
                </td>
                <td class="name">{visible(reasons.slice(0, 200))}</td>
                <td>{fullTime(from)}</td>
                <td>{fullTime(to)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}
