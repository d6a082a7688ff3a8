import { useEffect, useState } from 'preact/hooks'
import { AccountPage } from '../account/account-page.js'
import type { Arrivals } from '../account/arrivals.js'
import type { LiveFeed } from '../api/live-feed.js'
import { messageOf, sessionOver } from '../api/requests.js'
import { session, signOut } from '../api/session.js'
import { ContentPage } from '../content/content-page.js'
import { ErrorsPage } from '../errors/errors-page.js'
import { LogsPage } from '../logs/logs-page.js'
import { RejectedPage } from '../rejected/rejected-page.js'
import { inUtc, showUtc } from '../text/time.js'
import { visible } from '../text/visible.js'
import { ValuesPage } from '../values/values-page.js'
import { go, linkTo, type PageName, pages, view } from '../view/view.js'
import { Help } from './help.js'
import { useKeys } from './keys.js'
import { sendToast, Toast } from './toast.js'

const names: Readonly<Record<PageName, string>> = {
  logs: 'Logs',
  errors: 'Errors',
  values: 'Values',
  account: 'Account',
  rejected: 'Rejected',
  content: 'Content',
}

interface AppProps {
  readonly feed: LiveFeed
  readonly arrivals: Arrivals
}

export function App({ feed, arrivals }: AppProps) {
  const [help, setHelp] = useState(false)
  const { page, bucket = session.value?.bucket } = view.value
  useEffect(() => {
    if (bucket === undefined || session.value === undefined) return
    arrivals.clear()
    feed.open(bucket)
  }, [feed, arrivals, bucket, session.value])
  useEffect(() => {
    document.title = `${names[page]} · Sluice receiver`
  }, [page])
  useKeys({ '?': () => setHelp(!help) })
  return (
    <>
      <Header feed={feed} bucket={bucket} onHelp={() => setHelp(true)} />
      <main>
        {sessionOver.value && (
          <p class="problem" role="alert">
            The session of this page is over.{' '}
            <button type="button" class="quiet" onClick={() => location.reload()}>
              Sign in
            </button>
          </p>
        )}
        {session.value !== undefined && bucket !== undefined && (
          <Page page={page} bucket={bucket} feed={feed} arrivals={arrivals} />
        )}
      </main>
      {help && <Help onClose={() => setHelp(false)} />}
      <Toast />
    </>
  )
}

function Page({ page, bucket, feed, arrivals }: AppProps & { readonly page: PageName; readonly bucket: string }) {
  if (page === 'errors') return <ErrorsPage feed={feed} bucket={bucket} />
  if (page === 'values') return <ValuesPage feed={feed} bucket={bucket} />
  if (page === 'account') return <AccountPage arrivals={arrivals} feed={feed} bucket={bucket} />
  if (page === 'rejected') return <RejectedPage />
  if (page === 'content') return <ContentPage bucket={bucket} />
  return <LogsPage feed={feed} bucket={bucket} />
}

interface HeaderProps {
  readonly feed: LiveFeed
  readonly bucket: string | undefined
  readonly onHelp: () => void
}

function Header({ feed, bucket, onHelp }: HeaderProps) {
  const { page } = view.value
  const projects = session.value?.projects ?? []
  return (
    <header class="top">
      <span class="brand">sluice</span>
      <nav aria-label="Views">
        {pages.map((name) => (
          <a key={name} href={linkTo(name)} aria-current={name === page ? 'page' : undefined}>
            {names[name]}
          </a>
        ))}
      </nav>
      <span class="settings">
        {projects.length > 1 && (
          <select
            aria-label="Bucket"
            value={bucket}
            onChange={({ currentTarget: { value } }) => go({ bucket: value, id: undefined, around: undefined })}
          >
            {projects.map((name) => (
              <option key={name} value={name}>
                {visible(name)}
              </option>
            ))}
          </select>
        )}
        <Connection feed={feed} />
        <button
          type="button"
          class="quiet"
          aria-pressed={inUtc.value}
          title={inUtc.value ? 'Times are in UTC' : 'Times are local times'}
          onClick={() => showUtc(!inUtc.value)}
        >
          UTC
        </button>
        <button type="button" class="quiet" aria-label="Help" onClick={onHelp}>
          ?
        </button>
        <button
          type="button"
          class="quiet"
          onClick={() => signOut().catch((error) => sendToast(`You are still signed in: ${messageOf(error)}`))}
        >
          Sign out
        </button>
      </span>
    </header>
  )
}

const states = { live: 'live', connecting: 'connecting', waiting: 'reconnecting' } as const

function Connection({ feed }: { readonly feed: LiveFeed }) {
  const state = states[feed.state.value]
  return (
    <span class={`connection ${state}`} title="The connection that brings new records">
      {state}
    </span>
  )
}
