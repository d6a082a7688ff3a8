import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createSecureContext } from 'node:tls'
import { pageAddress, reachable } from './addresses.js'
import { type EventNames, readEventNames } from './event-names.js'
import { Access } from './http/access.js'
import { AccessLog, type AccessLogStream } from './http/access-log.js'
import { buildApp } from './http/app.js'
import { Connections } from './http/connections.js'
import type { Tls } from './http/server.js'
import type { ReceiverStart } from './http/session-routes.js'
import { Keys } from './keys/keys.js'
import { PageSessions } from './keys/page-sessions.js'
import { RateLimit } from './keys/rate-limit.js'
import { scopes } from './keys/scopes.js'
import { LiveFeed } from './live/live-feed.js'
import { neighbourAt, neighbourText } from './neighbour.js'
import { openDatabase, openFolder } from './open-store.js'
import { optionTable } from './options/option-table.js'
import { durationMs, expectation, isPageHost } from './options/option-value.js'
import { ReceiverError } from './receiver-error.js'
import { Retention } from './retention/retention.js'

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }

/** Address, data folder and limits of a receiver. */
export interface ReceiverOptions {
  /** TCP port; 0 takes a free one. @default 18400 */
  readonly port?: number
  /** Address to listen on. @default '127.0.0.1' */
  readonly host?: string
  /** Folder for the data; it is made if it is missing. `:memory:` stores nothing on disk. @default 'sluice-data' */
  readonly data?: string
  /**
   * URL of PostgreSQL, in place of a folder: `postgres://user:password@host/database`; of several hosts with commas between them the one that takes
   * writes is used. Several receivers may use one database. @default none
   */
  readonly database?: string | undefined
  /** Makes another API key at this start. @default false */
  readonly newKey?: boolean
  /** File with the certificate chain, in PEM. The receiver then speaks HTTPS. Needs `tlsKey`. */
  readonly tlsCert?: string | undefined
  /** File with the private key of the certificate, in PEM. Needs `tlsCert`. */
  readonly tlsKey?: string | undefined
  /**
   * Name under which browsers reach the page, with `:port` where that is another. Needed if it is neither an IP address nor `host`. The page's
   * address has it.
   */
  readonly pageHost?: string | undefined
  /** File with a catalogue of events, in JSON, as `defineEvents` of the library takes it. The page shows their names. */
  readonly events?: string | undefined
  /** Most records per second and API key, a whole number; more get 429 with `Retry-After`. @default none */
  readonly rateLimit?: number | undefined
  /**
   * Records are deleted this long after they were received: minutes, hours or days, such as `30m`, `12h` or `7d`; at least `1m`.
   *
   * @default none: all records are kept
   */
  readonly retain?: string | undefined
  /** Stream of the process that gets a line of JSON for each request. @default none */
  readonly accessLog?: AccessLogStream | undefined
  /** Longest time for a request to arrive, in ms; a slower request gets 408. @default 30000 */
  readonly requestTimeoutMs?: number
}

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

const defaultRequestTimeoutMs = 30_000
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
  const {
    port = optionTable.port.default,
    host = optionTable.host.default,
    data = optionTable.data.default,
    database,
    newKey = false,
    tlsCert,
    tlsKey,
    pageHost,
    events,
    rateLimit,
    retain,
    accessLog,
    requestTimeoutMs = defaultRequestTimeoutMs,
    // A library may have put settings on the prototype of all objects.
  }: ReceiverOptions = Object.assign(Object.create(null), options)
  if (pageHost !== undefined && !isPageHost(pageHost)) {
    const message = `--page-host: expected ${expectation({ type: 'page-host' })}, got "${pageHost}"`
    throw new ReceiverError('ADDRESS_UNUSABLE', message)
  }
  if (rateLimit !== undefined && !(Number.isInteger(rateLimit) && rateLimit > 0)) {
    throw new TypeError(`rateLimit: expected a whole number of records per second, at least 1, got ${rateLimit}`)
  }
  const retainMs = retain === undefined ? undefined : durationMs(retain)
  if (retain !== undefined && retainMs === undefined) {
    throw new TypeError(`retain: expected ${expectation({ type: 'duration' })}, got ${JSON.stringify(retain)}`)
  }
  const tls = readTls(tlsCert, tlsKey)
  const eventNames = events === undefined ? undefined : await readEvents(events)
  const storage = await (database === undefined ? openFolder(data) : openDatabase(database)).catch(
    besideNeighbour({ host, port }),
  )
  const abandoned = failedAfter(() => storage.close())
  const keys = await Keys.load(storage.keys).catch(abandoned)
  const first = keys.size === 0
  await storage.projects.add(firstProject).catch(abandoned)

  const sessions = await PageSessions.load(storage.pageSessions).catch(abandoned)
  const pageName = pageHost?.replace(/:\d+$/, '')
  const { store } = await storage.records.position({ bucket: firstProject }).catch(abandoned)
  const access = new Access({ keys, sessions, hosts: pageName === undefined ? [host] : [host, pageName], store })
  const limit = rateLimit === undefined ? undefined : new RateLimit(rateLimit)
  const requests = accessLog === undefined ? undefined : new AccessLog(accessLog)
  const feed = new LiveFeed(storage.records)
  const start: Mutable<ReceiverStart> = {
    url: '',
    apiKey: null,
    project: firstProject,
    startedAt: new Date().toISOString(),
    events: eventNames,
  }
  const connections = new Connections()
  const app = buildApp({
    storage,
    keys,
    access,
    limit,
    accessLog: requests,
    feed,
    start,
    web,
    tls,
    requestTimeoutMs,
    connections,
  })
  try {
    await app.listen({ port, host })
  } catch (error) {
    await storage.close()
    throw await listenError(error as NodeJS.ErrnoException, { port, host })
  }
  const address = app.server.address() as AddressInfo
  const scheme = tls === undefined ? 'http' : 'https'
  start.url = `${scheme}://${reachable(address)}:${address.port}`
  const retention =
    retainMs === undefined ? undefined : new Retention(storage.records, { retainMs, clocks: storage.clocks })
  retention?.start()
  // The disk may be full, or another process may hold the database: the next round tries again.
  const refreshing = setInterval(
    () => void Promise.all([keys.refresh(), sessions.refresh(), storage.projects.renew?.()]).catch(() => {}),
    refreshMs,
  )
  let closing: Promise<void> | undefined
  const stop = async () => {
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
  // The key is made after `listen`: a start that fails must not store a key that was never shown.
  start.apiKey = first || newKey ? (await keys.make({ scopes }).catch(failedAfter(stop))).key : null
  return {
    url: start.url,
    project: start.project,
    apiKey: start.apiKey,
    page: `${scheme}://${pageAddress(address, pageHost)}/?token=${sessions.token}`,
    close() {
      closing ??= stop()
      return closing
    },
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

/** Another process may revoke a key, change a plan or begin a session of the page: after about this time it counts here, too. */
const refreshMs = 1000
/** A stop waits this long for requests that are still arriving. Requests that have arrived are always answered. */
const stopPatienceMs = 2000
/** A stop waits this long for a database that does not answer. What then still waits for it is answered with 503. */
const storePatienceMs = 10_000

function readTls(certFile: string | undefined, keyFile: string | undefined): Tls | undefined {
  if (certFile === undefined && keyFile === undefined) return undefined
  try {
    if (certFile === undefined || keyFile === undefined) throw new Error('a certificate and its key belong together')
    const files = { cert: readFileSync(certFile), key: readFileSync(keyFile) }
    createSecureContext(files)
    return files
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new ReceiverError('TLS_UNUSABLE', `cannot use the certificate and its key: ${reason}`, { cause })
  }
}

async function readEvents(file: string): Promise<EventNames> {
  try {
    return await readEventNames(file)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    // JSON.parse quotes the text, line ends included.
    const message = `cannot use the events of ${file}: ${reason.replace(/\s+/g, ' ')}`
    throw new ReceiverError('EVENTS_UNUSABLE', message, { cause })
  }
}

interface Place {
  readonly host: string
  readonly port: number
}

/** Adds to the refusal of a data folder the address of the receiver that runs at the port: a person looks for it. */
function besideNeighbour(place: Place): (failure: unknown) => Promise<never> {
  return async (failure) => {
    if (!(failure instanceof ReceiverError) || failure.code !== 'DATA_IN_USE') throw failure
    const neighbour = await neighbourAt(place)
    if (neighbour === undefined) throw failure
    const { cause } = failure
    throw new ReceiverError(failure.code, `${failure.message}; ${neighbourText(neighbour)}`, { cause })
  }
}

async function listenError(cause: NodeJS.ErrnoException, { port, host }: Place): Promise<ReceiverError> {
  if (cause.code === 'EADDRINUSE') {
    const neighbour = await neighbourAt({ host, port })
    const message =
      neighbour === undefined
        ? `another program listens on ${host}:${port}; choose another port with --port`
        : `${neighbourText(neighbour)}: use it, or choose another port with --port`
    return new ReceiverError('PORT_TAKEN', message, { cause })
  }
  return new ReceiverError('ADDRESS_UNUSABLE', `cannot listen on ${host}:${port}: ${cause.message}`, { cause })
}
