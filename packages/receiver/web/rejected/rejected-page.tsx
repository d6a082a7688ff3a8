import { usePolled } from '../api/polling.js'
import { CopyButton } from '../shell/copy-button.js'
import { fullTime } from '../text/time.js'
import { oneLine, visible } from '../text/visible.js'
import { SheetTitle } from '../view/sheet-title.js'

/** A request that the receiver has refused. */
interface Rejection {
  readonly id: number | string
  readonly at: string
  readonly method: string
  readonly path: string
  readonly status: number
  readonly reason: string
  /** The first characters of the body. */
  readonly body: string
  readonly appName?: string
  readonly userAgent?: string
  readonly remote?: string
}

/** Requests that were refused, newest first: the first place to look when nothing arrives. */
export function RejectedPage() {
  const { answer, problem } = usePolled<{ readonly items: readonly Rejection[] }>('/api/rejected')
  return (
    <div class="sheet">
      <SheetTitle title="Rejected" />
      <p class="dim">The last requests that the receiver refused since its start, newest first.</p>
      {problem !== undefined && <p class="problem">{problem}</p>}
      {answer?.items.length === 0 && <p class="nothing">No request was refused.</p>}
      <ul class="rejections">
        {answer?.items.map((rejection) => (
          <RejectionItem key={rejection.id} rejection={rejection} />
        ))}
      </ul>
    </div>
  )
}

function RejectionItem({ rejection }: { readonly rejection: Rejection }) {
  const { at, method, path, status, reason, body, appName, userAgent, remote } = rejection
  const senders = [appName, userAgent, remote].filter((sender) => sender !== undefined && sender !== '')
  return (
    <li class="card" data-status={status}>
      <div class="line">
        <span class="badge level-error">{status}</span>
        <code>
          {visible(method)} {oneLine(path, 200)}
        </code>
        <time dateTime={at}>{fullTime(Date.parse(at))}</time>
      </div>
      <p class="reason">{visible(reason)}</p>
      {senders.length > 0 && <p class="dim">{oneLine(senders.join(' · '), 300)}</p>}
      {body !== '' && (
        <details>
          <summary>Body</summary>
          <pre tabIndex={0}>{visible(pretty(body))}</pre>
          <CopyButton label="Copy" text={() => body} />
        </details>
      )}
    </li>
  )
}

function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}
