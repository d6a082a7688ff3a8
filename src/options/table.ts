import { hostname } from 'node:os'
import type { SluiceError } from '../errors/sluice-error.js'
import { runtimeIdentity, serviceEnvironment, serviceName, serviceVersion, usualLinger, usualMode } from './identity.js'
import { callback, choice, flag, levelShares, lineWindow, name, path, secret, text, url, whole } from './kinds.js'
import { type Around, computed, type Fallback, fileIn, option } from './option.js'
import { keysIn, patternsIn, redaction } from './redaction.js'
import { Secret } from './secret.js'

const day = 86_400_000
const mebibyte = 1_048_576

const noUrl = computed(() => '')
const noKey = computed(() => new Secret(''))
const ownRuntime = computed<number>(() => runtimeIdentity().runtime)

function sharedBucket({ earlier }: Around): Fallback<string> | undefined {
  return earlier('bucket') as Fallback<string> | undefined
}

/**
 * Every option: its comment for users, its kind, its variables, its default. The types, the checks, the lines of `debug` and `doctor`, and
 * docs/options.md come from this table.
 */
export const table = {
  /**
   * Base URL of the service: `https:`, or `http:` to loopback or with `allowInsecure`. Without URL, key and bucket Sluice is off. Set by
   * `SLUICE_URL`.
   */
  url: option(url, 'SLUICE_URL', noUrl),
  /**
   * The API key, sent as `x-api-key`. Never printed. `SLUICE_API_KEY_FILE` is the path of a file with the key. That file is read again when
   * the service refuses the key. Set by `SLUICE_API_KEY`.
   */
  apiKey: option(secret, ['SLUICE_API_KEY', fileIn('SLUICE_API_KEY_FILE')], noKey),
  /** Bucket (project) of both lanes. Set by `SLUICE_BUCKET`. */
  bucket: option(name, 'SLUICE_BUCKET'),
  /**
   * Bucket of log records. Set by `SLUICE_LOG_BUCKET`.
   * @default the option `bucket`
   */
  logBucket: option(name, 'SLUICE_LOG_BUCKET', sharedBucket),
  /**
   * Bucket of value records. Set by `SLUICE_VALUE_BUCKET`.
   * @default the option `bucket`
   */
  valueBucket: option(name, 'SLUICE_VALUE_BUCKET', sharedBucket),
  /**
   * Name of the service: the record field `appName`. Set by `SLUICE_APP_NAME`. Where neither this nor the variable names it, events of `track` have
   * the name that the first logger of the process was given.
   * @default `OTEL_SERVICE_NAME`, `service.name` of `OTEL_RESOURCE_ATTRIBUTES`, `DD_SERVICE`, the name in the nearest package.json,
   * `unknown_service:node`
   */
  appName: option(text, 'SLUICE_APP_NAME', serviceName),
  /**
   * Version of the service: the record field `appVersion`. Set by `SLUICE_APP_VERSION`.
   * @default `service.version` of `OTEL_RESOURCE_ATTRIBUTES`, `DD_VERSION`, the version in the nearest package.json
   */
  appVersion: option(text, 'SLUICE_APP_VERSION', serviceVersion),
  /**
   * Environment, such as production: the record field `env`. Set by `SLUICE_ENV`.
   * @default `deployment.environment.name` of `OTEL_RESOURCE_ATTRIBUTES`, `DD_ENV`, `NODE_ENV`
   */
  env: option(text, 'SLUICE_ENV', serviceEnvironment),
  /**
   * Host of the application: the record field `machineName`. Set by `SLUICE_MACHINE_NAME`.
   * @default `os.hostname()`
   */
  machineName: option(text, 'SLUICE_MACHINE_NAME', computed(hostname)),
  /**
   * Number of the runtime: the record field `runtime`. 1 Node.js, 2 Bun, 3 Deno. 0 to 65535. Set by `SLUICE_RUNTIME`.
   * @default the runtime of the process
   */
  runtime: option(whole(0, 65_535), 'SLUICE_RUNTIME', ownRuntime),
  /**
   * Unit of `timeStamp`: milliseconds or seconds. The API does not define it. Set by `SLUICE_TIMESTAMP_UNIT`. Rarely needed.
   * @default 'ms'
   */
  timestampUnit: option(choice('ms', 's'), 'SLUICE_TIMESTAMP_UNIT', 'ms'),
  /**
   * Name of the lowest level that is sent; `silent` sends none. Set by `SLUICE_LEVEL`.
   * @default everything that the logger lets through
   */
  level: option(text, 'SLUICE_LEVEL'),
  /**
   * How fields without a place in the API follow the message: as JSON, as logfmt, or not at all. Set by `SLUICE_CONTEXT`.
   * @default 'json'
   */
  context: option(choice('json', 'logfmt', 'none'), 'SLUICE_CONTEXT', 'json'),
  /**
   * Longest `message` in bytes of UTF-8. The rest is cut, with a mark that gives the missing bytes. 256 to 16777216. Set by
   * `SLUICE_MAX_MESSAGE_BYTES`.
   * @default 32768
   */
  maxMessageBytes: option(whole(256, 16 * mebibyte), 'SLUICE_MAX_MESSAGE_BYTES', 32_768),
  /**
   * Keys whose values are hidden, and patterns of texts that are, before a record is queued, written to disk or sent. In
   * a variable, the names have commas between them. Set by `SLUICE_REDACT` (keys) and `SLUICE_REDACT_PATTERNS`.
   * @see docs/redaction.md
   * @default nothing is hidden
   */
  redact: option(redaction, [keysIn('SLUICE_REDACT'), patternsIn('SLUICE_REDACT_PATTERNS')]),
  /**
   * Share of the lines of a level that is sent, from 0 to 1, by the level's name. At most 100 levels. The variable has the form
   * `debug:0.01,info:0.25`. Set by `SLUICE_SAMPLE`.
   * @see docs/volume.md
   * @default all lines
   */
  sample: option(levelShares, 'SLUICE_SAMPLE'),
  /**
   * Most lines that are kept back for an error, and the longest time that each is kept. `lines` is 1 to 100000, `windowMs` 100 to 3600000;
   * or a text such as `200/30s`. Set by `SLUICE_KEEP_FOR_ERROR`.
   * @see docs/volume.md#lines-that-only-an-error-needs
   * @default none
   */
  keepForError: option(lineWindow, 'SLUICE_KEEP_FOR_ERROR'),
  /**
   * Thread in which winston, `sluicePino()` and `track` deliver: a worker, or the application's own thread. pino's target always delivers
   * in pino's worker. Set by `SLUICE_MODE`. Rarely needed.
   * @default `worker`; `inline` in serverless runtimes
   */
  mode: option(choice('worker', 'inline'), 'SLUICE_MODE', usualMode),
  /**
   * Most records that an engine has in memory, queued and in flight. When it is full, the least severe records are dropped first, and of
   * these the oldest. 1 to 100000000. Set by `SLUICE_MAX_QUEUE_RECORDS`.
   * @default 100000
   */
  maxQueueRecords: option(whole(1, 100_000_000), 'SLUICE_MAX_QUEUE_RECORDS', 100_000),
  /**
   * Most bytes that an engine has in memory, queued and in flight. 1024 to 1099511627776. Set by `SLUICE_MAX_QUEUE_BYTES`.
   * @default 67108864
   */
  maxQueueBytes: option(whole(1024, 2 ** 40), 'SLUICE_MAX_QUEUE_BYTES', 64 * mebibyte),
  /**
   * Longest time that a record waits for others to be sent with, in milliseconds. The first record after a pause of this length goes out at once; what follows waits
   * until this time has passed since the last send, until 256 records or 64 KiB wait, or until a `flush`, `close` or the end of the process. 0 sends each record at once. 0 to 5000. Set by `SLUICE_LINGER_MS`.
   * @default 200; 0 in serverless runtimes
   */
  lingerMs: option(whole(0, 5000), 'SLUICE_LINGER_MS', usualLinger),
  /**
   * Most connections per lane. Their number, and that of the records in one batch on each (at most 256), adapt to the service. 1 to 1024. Set by `SLUICE_MAX_CONNECTIONS`. Rarely needed.
   * @default 64
   */
  maxConnections: option(whole(1, 1024), 'SLUICE_MAX_CONNECTIONS', 64),
  /**
   * Several requests in flight on one connection. `auto`: if the service is seen to speak plain HTTP/1.1 and there is no proxy; value
   * records only if it echoes `idempotency-key`. Pipelining ends at an answer that cannot be read, at a success that is not HTTP/1.1, and
   * when connections break repeatedly. `off`: never. Set by `SLUICE_PIPELINING`. Rarely needed.
   * @default 'auto'
   */
  pipelining: option(choice('auto', 'off'), 'SLUICE_PIPELINING', 'auto'),
  /**
   * Longest time for one request, in milliseconds. 1 to 600000. Set by `SLUICE_REQUEST_TIMEOUT_MS`. Rarely needed.
   * @default 10000
   */
  requestTimeoutMs: option(whole(1, 600_000), 'SLUICE_REQUEST_TIMEOUT_MS', 10_000),
  /**
   * Longest wait for delivery at the end of the process, in milliseconds. 0 to 8000. Set by `SLUICE_SHUTDOWN_TIMEOUT_MS`.
   * @default 5000
   */
  shutdownTimeoutMs: option(whole(0, 8000), 'SLUICE_SHUTDOWN_TIMEOUT_MS', 5000),
  /**
   * First upper bound of the backoff, in milliseconds. It has full jitter and doubles with each attempt. 1 to 86400000. Set by
   * `SLUICE_RETRY_BASE_MS`. Rarely needed.
   * @default 500
   */
  retryBaseMs: option(whole(1, day), 'SLUICE_RETRY_BASE_MS', 500),
  /**
   * Last upper bound of the backoff, in milliseconds. 1 to 86400000. Set by `SLUICE_RETRY_CAP_MS`. Rarely needed.
   * @default 30000
   */
  retryCapMs: option(whole(1, day), 'SLUICE_RETRY_CAP_MS', 30_000),
  /**
   * First wait of a paused lane before it probes, in milliseconds. It doubles with each probe. 1 to 86400000. Set by
   * `SLUICE_PROBE_BASE_MS`. Rarely needed.
   * @default 30000
   */
  probeBaseMs: option(whole(1, day), 'SLUICE_PROBE_BASE_MS', 30_000),
  /**
   * Longest wait of a paused lane between probes, in milliseconds. 1 to 86400000. Set by `SLUICE_PROBE_CAP_MS`. Rarely needed.
   * @default 300000
   */
  probeCapMs: option(whole(1, day), 'SLUICE_PROBE_CAP_MS', 300_000),
  /**
   * Folder that keeps records until they are delivered, after the end of the process too. It is made when it is first needed. Processes
   * may share it. Set by `SLUICE_SPOOL_DIR`.
   * @default no spool: memory only
   */
  spoolDir: option(path, 'SLUICE_SPOOL_DIR'),
  /**
   * Most bytes of one engine in `spoolDir`. Beyond it the least severe and oldest records are dropped. 65536 to 1099511627776. Set by
   * `SLUICE_SPOOL_MAX_BYTES`.
   * @default 536870912
   */
  spoolMaxBytes: option(whole(65_536, 2 ** 40), 'SLUICE_SPOOL_MAX_BYTES', 512 * mebibyte),
  /**
   * Longest time that a record stays in `spoolDir`, in hours. 1 to 8760. Set by `SLUICE_SPOOL_MAX_AGE_HOURS`.
   * @default 72
   */
  spoolMaxAgeHours: option(whole(1, 8760), 'SLUICE_SPOOL_MAX_AGE_HOURS', 72),
  /**
   * Wait for the disk after each batch that is written (`fdatasync`). Otherwise records survive the end of the process, but not a power
   * failure. Set by `SLUICE_SPOOL_SYNC`. Rarely needed.
   * @default false
   */
  spoolSync: option(flag, 'SLUICE_SPOOL_SYNC', false),
  /**
   * Deliver before SIGTERM, SIGINT, SIGHUP, SIGQUIT or SIGUSR2 ends the process, if the application has no listener for it. Set by
   * `SLUICE_HANDLE_SIGNALS`. With `false`, pino's target loads nothing in the main thread.
   * @default true
   */
  handleSignals: option(flag, 'SLUICE_HANDLE_SIGNALS', true),
  /**
   * Allow `http:` to hosts other than loopback. Set by `SLUICE_ALLOW_INSECURE`.
   * @default false
   */
  allowInsecure: option(flag, 'SLUICE_ALLOW_INSECURE', false),
  /**
   * Turn Sluice off: every call does nothing. Set by `SLUICE_DISABLED`.
   * @default false
   */
  disabled: option(flag, 'SLUICE_DISABLED', false),
  /**
   * Print on stderr the resolved options with their sources at the start, and the ledger at the end. Set by `SLUICE_DEBUG`.
   * @default false
   */
  debug: option(flag, 'SLUICE_DEBUG', false),
  /**
   * Called with an error for each kind of trouble: drops, rejections, pauses and others, see `SluiceErrorCode`. Errors that it throws are
   * ignored. Not possible in a pino target.
   */
  onError: option(callback<(error: SluiceError) => void>()),
  /**
   * For serverless platforms: called with a promise when records have been accepted, once in each turn of the event loop in which that
   * happens, during the call that logs the first of them. The promise resolves when the records are settled, or after `shutdownTimeoutMs`.
   * It never rejects. An error that the function throws is reported to `onError` once. Not possible in a pino target.
   * @default the `waitUntil` of the request, where the platform provides one as Vercel does, or as Next.js asks for
   */
  waitUntil: option(callback<(promise: Promise<void>) => void>()),
}
