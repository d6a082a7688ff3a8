import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { Access } from './http/access.js'
import { AccessLog } from './http/access-log.js'
import { buildApp } from './http/app.js'
import { Connections } from './http/connections.js'
import type { ReceiverStart } from './http/session-routes.js'
import { Keys } from './keys/keys.js'
import { PageSessions } from './keys/page-sessions.js'
import { RateLimit } from './keys/rate-limit.js'
import { scopes } from './keys/scopes.js'
import { LiveFeed } from './live/live-feed.js'
import { besideNeighbour, listenError } from './neighbour.js'
import { openDatabase, openFolder } from './open-store.js'
import { type ReceiverOptions, type ReceiverSettings, settingsOf } from './receiver-options.js'
import { Retention } from './retention/retention.js'
import type { Storage } from './storage/storage.js'

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }

/** A running receiver. */
export interface Receiver {
  /** Base URL, for SLUICE_URL. */
  readonly url: string
  /** The project (bucket) that the first start makes. */
  readonly project: string
  /** The API key that this start made, else null. It cannot be shown again. */
  readonly apiKey: string | null
  /** Address of the page, with a token that opens one browser, once. */
  readonly page: string
  /** Answers the requests it has taken, ends live streams, commits, and stops. Idempotent. */
  close(): Promise<void>
}

const firstProject = 'demo'
const web = new URL('./web/', import.meta.url)

/**
 * Starts a receiver.
 *
 * @throws {TypeError} when `rateLimit` is no whole number above 0, or `retain` is no duration
 * @throws {ReceiverError} when the port is taken, the address is not this machine's, `pageHost` is no name, another receiver uses the data
 *   folder, or the folder, the database, the certificate, its key or the catalogue of events cannot be used
 */
export async function startReceiver(options?: ReceiverOptions): Promise<Receiver> {
  const settings = await settingsOf(options)
  const { port, host, data, database, pageHost, newKey } = settings
  const storage = await (database === undefined ? openFolder(data) : openDatabase(database)).catch(
    besideNeighbour({ host, port }),
  )
  const abandoned = failedAfter(() => storage.close())
  const parts = await assembled(storage, settings).catch(abandoned)
  const { app, keys, sessions, start, isFirst } = parts
  const address = await listening(app, { host, port }).catch(abandoned)
  const scheme = settings.tls === undefined ? 'http' : 'https'
  start.url = `${scheme}://${reachable(address)}:${address.port}`
  const page = `${scheme}://${pageAddress(address, pageHost)}`
  // The next start notes it again.
  await storage.pageSessions.noteAddress(page).catch(() => {})
  const stop = work(storage, { parts, retainMs: settings.retainMs })
  // The key is made after `listen`: a start that fails must not store a key that was never shown.
  start.apiKey = isFirst || newKey ? (await keys.make({ scopes }).catch(failedAfter(stop))).key : null
  let closing: Promise<void> | undefined
  return {
    url: start.url,
    project: start.project,
    apiKey: start.apiKey,
    page: `${page}/?token=${sessions.token}`,
    close() {
      closing ??= stop()
      return closing
    },
  }
}

/** What stands between a store and the network. */
interface Parts {
  readonly app: FastifyInstance
  readonly keys: Keys
  readonly sessions: PageSessions
  readonly feed: LiveFeed
  readonly connections: Connections
  readonly requests: AccessLog | undefined
  readonly start: Mutable<ReceiverStart>
  /** The store has no keys yet. */
  readonly isFirst: boolean
}

/** Puts a receiver together that does not listen yet. */
async function assembled(storage: Storage, settings: ReceiverSettings): Promise<Parts> {
  const { host, pageHost, rateLimit, accessLog, events, tls, requestTimeoutMs } = settings
  const keys = await Keys.load(storage.keys)
  const isFirst = keys.size === 0
  await storage.projects.add(firstProject)
  const sessions = await PageSessions.load(storage.pageSessions)
  const { store } = await storage.records.position({ bucket: firstProject })
  const pageName = pageHost?.replace(/:\d+$/, '')
  const access = new Access({ keys, sessions, hosts: pageName === undefined ? [host] : [host, pageName], store })
  const limit = rateLimit === undefined ? undefined : new RateLimit(rateLimit)
  const requests = accessLog === undefined ? undefined : new AccessLog(accessLog)
  const feed = new LiveFeed(storage.records)
  const connections = new Connections()
  const start = { url: '', apiKey: null, project: firstProject, startedAt: new Date().toISOString(), events }
  const own = { storage, keys, access, limit, accessLog: requests, feed, start, web }
  const app = buildApp({ ...own, tls, requestTimeoutMs, connections })
  return { app, keys, sessions, feed, connections, requests, start, isFirst }
}

async function listening(
  app: FastifyInstance,
  place: { readonly host: string; readonly port: number },
): Promise<AddressInfo> {
  try {
    await app.listen(place)
  } catch (error) {
    throw await listenError(error as NodeJS.ErrnoException, place)
  }
  return app.server.address() as AddressInfo
}

/** The address as it stands in a URL. An address that means "all addresses" becomes loopback. */
function reachable({ address, family }: AddressInfo): string {
  if (address === '0.0.0.0') return '127.0.0.1'
  if (address === '::') return '[::1]'
  return family === 'IPv6' ? `[${address}]` : address
}

/** Host and port of the page. An address that means "all addresses" becomes localhost: a container's own address means nothing outside. */
function pageAddress(address: AddressInfo, pageHost: string | undefined): string {
  if (pageHost !== undefined) return /:\d+$/.test(pageHost) ? pageHost : `${pageHost}:${address.port}`
  const isAll = address.address === '0.0.0.0' || address.address === '::'
  return `${isAll ? 'localhost' : reachable(address)}:${address.port}`
}

/** Begins the work by the clock. Returns the function that ends it, and then all the rest. */
function work(
  storage: Storage,
  { parts, retainMs }: { readonly parts: Parts; readonly retainMs: number | undefined },
): () => Promise<void> {
  const { app, keys, sessions, feed, connections, requests } = parts
  const retention =
    retainMs === undefined ? undefined : new Retention(storage.records, { retainMs, clocks: storage.clocks })
  retention?.start()
  // The disk may be full, or another process may hold the database: the next round tries again.
  const refreshing = setInterval(
    () => void Promise.all([keys.refresh(), sessions.refresh(), storage.projects.renew?.()]).catch(() => {}),
    refreshMs,
  )
  return async () => {
    feed.close()
    connections.stop()
    // A client that has sent half a request must not delay the stop.
    const timer = setInterval(() => connections.drop(), stopPatienceMs)
    const lastTimer = setTimeout(() => storage.abandon?.(), storePatienceMs)
    await app.close()
    clearInterval(timer)
    clearInterval(refreshing)
    await retention?.stop()
    await keys.refresh().catch(() => {})
    await requests?.close()
    await storage.close()
    clearTimeout(lastTimer)
  }
}

/** Ends a start that failed: closes what it has opened, and passes the failure on. */
function failedAfter(close: () => Promise<void>): (failure: unknown) => Promise<never> {
  return async (failure) => {
    // A failure on the way out follows from the first one, which says more.
    await close().catch(() => {})
    throw failure
  }
}

/** Another process may revoke a key, change a plan, or begin or end a session of the page: after about this time it counts here, too. */
const refreshMs = 1000
/** A stop waits this long for requests that are still arriving. Requests that have arrived are always answered. */
const stopPatienceMs = 2000
/** A stop waits this long for a database that does not answer. What then still waits for it is answered with 503. */
const storePatienceMs = 10_000
