import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { isAborted, request } from '../api/requests.js'
import { CopyButton } from '../shell/copy-button.js'
import { fullTime } from '../text/time.js'
import { oneLine, visible } from '../text/visible.js'

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

const refreshMs = 2000
const items = signal<readonly Rejection[] | undefined>(undefined)
const problem = signal<string | undefined>(undefined)

/** Requests that were refused, newest first: the first place to look when nothing arrives. */
export function RejectedPage() {
  useEffect(() => {
    const abort = new AbortController()
    const read = async () => {
      if (document.hidden) return
      try {
        items.value = (await request<{ items: Rejection[] }>('/api/rejected', { signal: abort.signal })).items
        problem.value = undefined
      } catch (error) {
        if (!isAborted(error)) problem.value = error instanceof Error ? error.message : String(error)
      }
    }
    void read()
    const timer = setInterval(read, refreshMs)
    return () => {
      clearInterval(timer)
      abort.abort()
    }
  }, [])
  return (
    <div class="sheet">
      <h1>Rejected</h1>
      <p class="dim">The last requests that the receiver refused since its start, newest first.</p>
      {problem.value !== undefined && <p class="problem">{problem.value}</p>}
      {items.value?.length === 0 && <p class="nothing">No request was refused.</p>}
      <ul class="rejections">
        {items.value?.map((rejection) => (
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
