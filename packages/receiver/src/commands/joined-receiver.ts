import { setTimeout } from 'node:timers/promises'
import { makeKey, type NewKey } from '../keys/keys.js'
import { newPageAddress } from '../keys/page-sessions.js'
import { inTables, type StoreCommand } from './store-command.js'

/** A receiver that runs on a store, with a key for one command. */
export interface JoinedReceiver {
  readonly url: string
  /** The project that every store has. */
  readonly project: string
  readonly apiKey: string
  /** Opens one browser. */
  readonly page: string
  /** Takes the key back. */
  close(): Promise<void>
}

const project = 'demo'
/** The receiver of another process looks for new keys each second. */
const mostWaitMs = 5000
const betweenLooksMs = 50

/**
 * The receiver that runs on a store, with a new key.
 *
 * @throws if there is no store, or none has run there; with the error of the network where none runs now
 */
export async function joinReceiver(store: StoreCommand, wanted: NewKey): Promise<JoinedReceiver> {
  const { page, key, stored } = await inTables(store, async ({ keys, pageSessions }) => ({
    page: await newPageAddress(pageSessions),
    ...(await makeKey(keys, wanted)),
  }))
  const { origin } = new URL(page)
  const close = () => revokeKeyOf(store, stored.id)
  try {
    await untilValid(key, origin)
  } catch (error) {
    await close()
    throw error
  }
  return { url: origin, project, apiKey: key, page, close }
}

export async function revokeKeyOf(store: StoreCommand, id: string): Promise<void> {
  await inTables(store, ({ keys }) => keys.revoke(id))
}

/** A receiver looks for new keys once in a while. @throws where another one listens there */
async function untilValid(key: string, url: string): Promise<void> {
  for (const until = Date.now() + mostWaitMs; Date.now() < until; await setTimeout(betweenLooksMs)) {
    const { status } = await fetch(`${url}/api/logs/${project}?limit=1`, { headers: { 'x-api-key': key } })
    if (status !== 401) return
  }
  throw new Error(`a receiver with other data listens at ${url}`)
}
