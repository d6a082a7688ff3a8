import { signal } from '@preact/signals'
import { request, sessionOver } from './requests.js'

/** The receiver behind the page. */
export interface Session {
  readonly url: string
  readonly apiKey: string | null
  /** The first project. */
  readonly bucket: string
  readonly projects: readonly string[]
  readonly version: string
  readonly startedAt: string
  /** Names of events by number, from `--events`. */
  readonly events?: Readonly<Record<string, string>>
}

export const session = signal<Session | undefined>(undefined)

/** Asks for the session. */
export async function openSession(): Promise<Session> {
  session.value = await request<Session>('/api/session')
  return session.value
}

/** Ends the session. The receiver then asks for a key. */
export async function signOut(): Promise<void> {
  await request('/api/session', { method: 'DELETE' }).catch((error) => {
    // A session that is over already need not end.
    if (!sessionOver.value) throw error
  })
  location.reload()
}

/** Makes the receiver store a log record and a value record of its own. */
export function sendTestRecord(): Promise<unknown> {
  return request('/api/test-record', { method: 'POST' })
}
