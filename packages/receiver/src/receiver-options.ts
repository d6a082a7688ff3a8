import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { pathFault, reasonOf } from '../../../src/errors/text-of.js'
import { type EventNames, readEventNames } from './event-names.js'
import type { AccessLogStream } from './http/access-log.js'
import type { Tls } from './http/server.js'
import { optionTable } from './options/option-table.js'
import { duration, pageName } from './options/option-value.js'
import { ReceiverError } from './receiver-error.js'
import { msOf } from './schemas/duration.js'

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

/** The options of a receiver, checked and complete. */
export interface ReceiverSettings
  extends Required<Pick<ReceiverOptions, 'port' | 'host' | 'data' | 'newKey' | 'requestTimeoutMs'>>,
    Pick<ReceiverOptions, 'database' | 'pageHost' | 'rateLimit' | 'accessLog'> {
  readonly tls: Tls | undefined
  readonly events: EventNames | undefined
  readonly retainMs: number | undefined
}

const defaultRequestTimeoutMs = 30_000

/** Checks the options and reads the files that they name. @throws as `startReceiver` does */
export async function settingsOf(options: ReceiverOptions | undefined): Promise<ReceiverSettings> {
  const {
    port = optionTable.port.default,
    host = optionTable.host.default,
    data = optionTable.data.default,
    database,
    newKey = false,
    tlsCert,
    tlsKey,
    pageHost,
    events: eventsFile,
    rateLimit,
    retain,
    accessLog,
    requestTimeoutMs = defaultRequestTimeoutMs,
    // A library may have put settings on the prototype of all objects.
  }: ReceiverOptions = Object.assign(Object.create(null), options)
  if (pageHost !== undefined && pageName.read(pageHost) === undefined) {
    const message = `--page-host: expected ${pageName.expected}, got "${pageHost}"`
    throw new ReceiverError('ADDRESS_UNUSABLE', message)
  }
  if (rateLimit !== undefined && !(Number.isInteger(rateLimit) && rateLimit > 0)) {
    throw new TypeError(`rateLimit: expected a whole number of records per second, at least 1, got ${rateLimit}`)
  }
  const retainMs = retain === undefined ? undefined : msOf(duration.read(retain) ?? '')
  if (retain !== undefined && retainMs === undefined) {
    throw new TypeError(`retain: expected ${duration.expected}, got ${JSON.stringify(retain)}`)
  }
  const tls = readTls(tlsCert, tlsKey)
  const events = eventsFile === undefined ? undefined : await readEvents(eventsFile)
  const given = { port, host, data, database, newKey, pageHost, rateLimit, accessLog, requestTimeoutMs }
  return { ...given, tls, events, retainMs }
}

function readTls(certFile: string | undefined, keyFile: string | undefined): Tls | undefined {
  if (certFile === undefined && keyFile === undefined) return undefined
  try {
    if (certFile === undefined || keyFile === undefined) throw new Error('a certificate and its key belong together')
    const files = { cert: readFileSync(certFile), key: readFileSync(keyFile) }
    createSecureContext(files)
    return files
  } catch (cause) {
    throw new ReceiverError(
      'TLS_UNUSABLE',
      `cannot use the certificate and its key: ${wordsOf(cause, `${certFile} or ${keyFile}`)}`,
      { cause },
    )
  }
}

/** @param files the file, or those that it may be */
function wordsOf(cause: unknown, files: string): string {
  const { syscall, path = files } = cause as NodeJS.ErrnoException
  return syscall === undefined ? reasonOf(cause) : pathFault(cause, { path })
}

async function readEvents(file: string): Promise<EventNames> {
  try {
    return await readEventNames(file)
  } catch (cause) {
    // JSON.parse quotes the text, line ends included.
    const message = `cannot use the events of ${file}: ${wordsOf(cause, file).replace(/\s+/g, ' ')}`
    throw new ReceiverError('EVENTS_UNUSABLE', message, { cause })
  }
}
