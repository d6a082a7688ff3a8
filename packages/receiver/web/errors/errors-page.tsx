import { useEffect } from 'preact/hooks'
import type { LogError } from '../../src/client/log-errors.js'
import type { LiveFeed } from '../api/live-feed.js'
import { Conditions } from '../logs/conditions.js'
import { agoOrTime, fullTime } from '../text/time.js'
import { visible } from '../text/visible.js'
import { Sparkline } from '../values/sparkline.js'
import { useNow } from '../view/now.js'
import { SheetTitle } from '../view/sheet-title.js'
import { TimeRange } from '../view/time-range.js'
import { addCondition, hashOf, linkTo, parseView, type View, view } from '../view/view.js'
import { ErrorCounts } from './error-counts.js'

const counts = new ErrorCounts()
/** Versions that a row shows, the newest. */
const maxVersions = 3

interface ErrorsProps {
  readonly feed: LiveFeed
  readonly bucket: string
}

/** Errors by kind, the most frequent first, over a time range that ends now. A press shows the records of a kind. */
export function ErrorsPage({ feed, bucket }: ErrorsProps) {
  const { since, only } = view.value
  const app = conditionOn(only, 'appName')
  const env = conditionOn(only, 'env')
  useEffect(() => {
    const load = () => counts.load({ bucket, since, app, env })
    load()
    return feed.listen({ logs: (logs) => logs.length > 0 && counts.recordsArrived(), gap: load })
  }, [feed, bucket, since, app, env])
  useEffect(() => () => counts.end(), [])
  const now = useNow(5000)
  const answer = counts.answer.value
  return (
    <div class="sheet">
      <SheetTitle title="Errors" />
      <header class="chosen">
        <Conditions />
        <TimeRange usual="All time" endsNow />
      </header>
      {counts.problem.value !== undefined && (
        <p class="problem" role="alert">
          {counts.problem.value}
        </p>
      )}
      {answer?.list.length === 0 && <Nothing isNarrowed={since !== undefined || only.length > 0} />}
      {answer !== undefined && answer.list.length > 0 && (
        <table class="grid errors">
          <thead>
            <tr>
              <th scope="col">Error</th>
              <th scope="col">In this time range</th>
              <th scope="col">Versions</th>
              <th scope="col">First seen</th>
              <th scope="col">Last seen</th>
            </tr>
          </thead>
          <tbody>
            {answer.list.map((error) => (
              <ErrorRow key={error.id} error={error} now={now} />
            ))}
          </tbody>
        </table>
      )}
      {answer !== undefined && answer.total > answer.list.length && (
        <p class="dim">
          {(answer.total - answer.list.length).toLocaleString('en')} further kinds of error, each less frequent than
          these.
        </p>
      )}
    </div>
  )
}

function ErrorRow({ error, now }: { readonly error: LogError; readonly now: number }) {
  const { id, type, message, frame, count, apps, versions, steps } = error
  const title = visible(type === null ? message : message === '' ? type : `${type}: ${message}`) || 'no message'
  const firstSeen = Date.parse(error.firstSeen)
  const lastSeen = Date.parse(error.lastSeen)
  return (
    <tr data-error={id}>
      <th scope="row">
        {error.new && <span class="badge level-warn">new</span>} <a href={recordsOf(id)}>{title}</a>
        <div class="dim">
          {frame !== null && <code>{visible(frame)}</code>}
          {apps.map((app) => (
            <button
              key={app}
              type="button"
              class="mini"
              title="Only this application"
              onClick={() => addCondition('only', { field: 'appName', value: app })}
            >
              {visible(app) || '""'}
            </button>
          ))}
        </div>
      </th>
      <td class="level-error">
        <span class="counted">
          <Sparkline counts={steps} />
          <span class="number">{count.toLocaleString('en')}</span>
        </span>
      </td>
      <td class="name" data-label="Versions" title={versions.map(visible).join(', ')}>
        {versions.length > maxVersions && '… '}
        {versions.slice(-maxVersions).map(visible).join(', ')}
      </td>
      <td data-label="First seen" title={fullTime(firstSeen)}>
        {agoOrTime(firstSeen, now)}
      </td>
      <td data-label="Last seen" title={fullTime(lastSeen)}>
        {agoOrTime(lastSeen, now)}
      </td>
    </tr>
  )
}

function Nothing({ isNarrowed }: { readonly isNarrowed: boolean }) {
  return (
    <p class="nothing">
      {isNarrowed
        ? 'No errors here. Choose a longer time, or take a filter away.'
        : 'No errors yet. A log with the stack of an error, or of level error or above, is counted here from its arrival on.'}
    </p>
  )
}

/** The records of a kind, of the same time, application and environment. */
function recordsOf(id: string): string {
  const { since, only } = view.value
  return hashOf({ ...parseView(linkTo('logs')), since, only, text: `error:${id}` })
}

function conditionOn(only: View['only'], field: string): string | undefined {
  return only.find((condition) => condition.field === field)?.value
}
