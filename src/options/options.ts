import type { SluiceError } from '../errors/sluice-error.js'
import type { Redaction } from '../records/redactor.js'
import type { LevelShares } from './level-shares.js'
import type { KeepForErrorOption, RepeatOption } from './line-window.js'
import type { RedactOption } from './redaction.js'
import type { Secret } from './secret.js'

/**
 * The options of Sluice. An option has precedence over its variable, and a variable over the default. An empty variable counts as unset.
 * An invalid value throws `ConfigError` where Sluice is set up.
 */
export interface SluiceOptions {
  /**
   * Base URL of the service: `https:`, or `http:` to loopback or with `allowInsecure`. Without URL, key and bucket Sluice is off. Set by
   * `SLUICE_URL`.
   */
  readonly url?: string | undefined
  /**
   * Sent as `x-api-key`. Never printed. `SLUICE_API_KEY_FILE` is the path of a file with the key. That file is read again when the
   * service refuses the key. Set by `SLUICE_API_KEY`.
   */
  readonly apiKey?: string | undefined
  /**
   * Sent as `Authorization: Bearer`, by content operations only. Never printed. `SLUICE_ACCESS_TOKEN_FILE` is the path of a file with the
   * token. Set by `SLUICE_ACCESS_TOKEN`.
   */
  readonly accessToken?: string | undefined
  /** Bucket (project) of both lanes. Set by `SLUICE_BUCKET`. */
  readonly bucket?: string | undefined
  /**
   * Bucket of log records. Set by `SLUICE_LOG_BUCKET`.
   * @default the option `bucket`
   */
  readonly logBucket?: string | undefined
  /**
   * Bucket of value records. Set by `SLUICE_VALUE_BUCKET`.
   * @default the option `bucket`
   */
  readonly valueBucket?: string | undefined
  /**
   * The record field `appName`. Set by `SLUICE_APP_NAME`.
   * @default `OTEL_SERVICE_NAME`, `service.name` of `OTEL_RESOURCE_ATTRIBUTES`, `DD_SERVICE`, the name in the nearest package.json,
   * `unknown_service:node`
   */
  readonly appName?: string | undefined
  /**
   * The record field `appVersion`. Set by `SLUICE_APP_VERSION`.
   * @default `service.version` of `OTEL_RESOURCE_ATTRIBUTES`, `DD_VERSION`, the version in the nearest package.json
   */
  readonly appVersion?: string | undefined
  /**
   * The record field `env`. Set by `SLUICE_ENV`.
   * @default `deployment.environment.name` of `OTEL_RESOURCE_ATTRIBUTES`, `DD_ENV`, `NODE_ENV`
   */
  readonly env?: string | undefined
  /**
   * The record field `machineName`. Set by `SLUICE_MACHINE_NAME`.
   * @default os.hostname()
   */
  readonly machineName?: string | undefined
  /**
   * The record field `runtimeVersion`.
   * @default such as `v20.20.2`
   */
  readonly runtimeVersion?: string | undefined
  /**
   * The record field `runtime`: 1 Node.js, 2 Bun, 3 Deno. 0 to 65535. Set by `SLUICE_RUNTIME`.
   * @default the runtime of the process
   */
  readonly runtime?: number | undefined
  /**
   * Unit of `timeStamp`: milliseconds or seconds. The API does not define it. Set by `SLUICE_TIMESTAMP_UNIT`.
   * @default 'ms'
   */
  readonly timestampUnit?: 'ms' | 's' | undefined
  /**
   * Name of the lowest level that is sent. Set by `SLUICE_LEVEL`.
   * @default everything that the logger lets through
   */
  readonly level?: string | undefined
  /**
   * How fields without a place in the API follow the message: as JSON, as logfmt, or not at all. Set by `SLUICE_CONTEXT`.
   * @default 'json'
   */
  readonly context?: 'json' | 'logfmt' | 'none' | undefined
  /**
   * Longest `message` in bytes of UTF-8. The rest is cut, with a mark that gives the missing bytes. 256 to 16777216. Set by
   * `SLUICE_MAX_MESSAGE_BYTES`.
   * @default 32768
   */
  readonly maxMessageBytes?: number | undefined
  /**
   * Keys whose values are hidden, and patterns of texts that are, before a record is queued, written to disk or sent. Set by
   * `SLUICE_REDACT` (keys) and `SLUICE_REDACT_PATTERNS`, with commas between the names.
   * @default nothing is hidden
   */
  readonly redact?: RedactOption | undefined
  /**
   * Most lines of one logger and level within a window whose messages differ only in numbers and ids; one record at the end of the window
   * counts the others. `most` is 1 to 1000000, `windowMs` 100 to 3600000; or a text such as `10/60s`. Set by `SLUICE_REPEAT`.
   * @default no bound
   */
  readonly repeat?: RepeatOption | string | undefined
  /**
   * Share of the lines of a level that is sent, from 0 to 1, by the level's name. At most 100 levels. Set by `SLUICE_SAMPLE`, such as
   * `debug:0.01,info:0.25`.
   * @default all lines
   */
  readonly sample?: Readonly<Record<string, number>> | undefined
  /**
   * Most lines that are kept back for an error, and the longest time that each is kept. `lines` is 1 to 100000, `windowMs` 100 to 3600000;
   * or a text such as `200/30s`. Set by `SLUICE_KEEP_FOR_ERROR`.
   * @default none
   */
  readonly keepForError?: KeepForErrorOption | string | undefined
  /**
   * Thread in which winston, `sluicePino()` and `track` deliver: a worker, or the application's own thread. pino's target always delivers
   * in pino's worker. Set by `SLUICE_MODE`.
   * @default 'worker', 'inline' in serverless runtimes
   */
  readonly mode?: 'worker' | 'inline' | undefined
  /**
   * Most records that an engine has in memory, queued and in flight. When it is full, the least severe records are dropped first, and of
   * these the oldest. 1 to 100000000. Set by `SLUICE_MAX_QUEUE_RECORDS`.
   * @default 100000
   */
  readonly maxQueueRecords?: number | undefined
  /**
   * Most bytes that an engine has in memory, queued and in flight. 1024 to 1099511627776. Set by `SLUICE_MAX_QUEUE_BYTES`.
   * @default 67108864
   */
  readonly maxQueueBytes?: number | undefined
  /**
   * Most connections per lane. The number in use adapts to the service. 1 to 1024. Set by `SLUICE_MAX_CONNECTIONS`.
   * @default 64
   */
  readonly maxConnections?: number | undefined
  /**
   * Most records in one batch on one connection. The number in use adapts to the service. 1 to 1024. Set by `SLUICE_MAX_BATCH`.
   * @default 256
   */
  readonly maxBatch?: number | undefined
  /**
   * Several requests in flight on one connection. `auto`: if the service is seen to speak plain HTTP/1.1 and there is no proxy; value
   * records only if it echoes `idempotency-key`. Pipelining ends at the first answer that cannot be read, and when connections break
   * repeatedly. `off`: never. Set by `SLUICE_PIPELINING`.
   * @default 'auto'
   */
  readonly pipelining?: 'auto' | 'off' | undefined
  /**
   * Longest time for one request, in milliseconds. 1 to 600000. Set by `SLUICE_REQUEST_TIMEOUT_MS`.
   * @default 10000
   */
  readonly requestTimeoutMs?: number | undefined
  /**
   * Longest wait for delivery at the end of the process, in milliseconds. 0 to 8000. Set by `SLUICE_SHUTDOWN_TIMEOUT_MS`.
   * @default 5000
   */
  readonly shutdownTimeoutMs?: number | undefined
  /**
   * First upper bound of the backoff, in milliseconds. It has full jitter and doubles with each attempt. 1 to 86400000. Set by
   * `SLUICE_RETRY_BASE_MS`.
   * @default 500
   */
  readonly retryBaseMs?: number | undefined
  /**
   * Last upper bound of the backoff, in milliseconds. 1 to 86400000. Set by `SLUICE_RETRY_CAP_MS`.
   * @default 30000
   */
  readonly retryCapMs?: number | undefined
  /**
   * First wait of a paused lane before it probes, in milliseconds. It doubles with each probe. 1 to 86400000. Set by
   * `SLUICE_PROBE_BASE_MS`.
   * @default 30000
   */
  readonly probeBaseMs?: number | undefined
  /**
   * Longest wait of a paused lane between probes, in milliseconds. 1 to 86400000. Set by `SLUICE_PROBE_CAP_MS`.
   * @default 300000
   */
  readonly probeCapMs?: number | undefined
  /**
   * Folder that keeps records until they are delivered, after the end of the process too. It is made when it is first needed. Processes
   * may share it. Set by `SLUICE_SPOOL_DIR`.
   * @default no spool: memory only
   */
  readonly spoolDir?: string | undefined
  /**
   * Most bytes of one engine in `spoolDir`. Beyond it the least severe and oldest records are dropped. 65536 to 1099511627776. Set by
   * `SLUICE_SPOOL_MAX_BYTES`.
   * @default 536870912
   */
  readonly spoolMaxBytes?: number | undefined
  /**
   * Longest time that a record stays in `spoolDir`, in hours. 1 to 8760. Set by `SLUICE_SPOOL_MAX_AGE_HOURS`.
   * @default 72
   */
  readonly spoolMaxAgeHours?: number | undefined
  /**
   * Wait for the disk after each batch that is written (`fdatasync`). Otherwise records survive the end of the process, but not a power
   * failure. Set by `SLUICE_SPOOL_SYNC`.
   * @default false
   */
  readonly spoolSync?: boolean | undefined
  /**
   * Deliver before SIGTERM, SIGINT, SIGHUP, SIGQUIT or SIGUSR2 ends the process, if the application has no listener for it. Set by
   * `SLUICE_HANDLE_SIGNALS`.
   * With `false`, pino's target loads nothing in the main thread.
   * @default true
   */
  readonly handleSignals?: boolean | undefined
  /**
   * Allow `http:` to hosts other than loopback. Set by `SLUICE_ALLOW_INSECURE`.
   * @default false
   */
  readonly allowInsecure?: boolean | undefined
  /**
   * Turn Sluice off: every call does nothing. Set by `SLUICE_DISABLED`.
   * @default false
   */
  readonly disabled?: boolean | undefined
  /**
   * Print on stderr the resolved options with their sources at the start, and the ledger at the end. Set by `SLUICE_DEBUG`.
   * @default false
   */
  readonly debug?: boolean | undefined
  /**
   * Called with an error for each kind of trouble: drops, rejections, pauses and others, see `SluiceErrorCode`. Errors that it throws are
   * ignored. Not possible in a pino target.
   */
  readonly onError?: ((error: SluiceError) => void) | undefined
  /**
   * For serverless platforms: called with a promise when records have been accepted, once in each turn of the event loop in which that
   * happens, during the call that logs the first of them. The promise resolves when the records are settled, or after
   * `shutdownTimeoutMs`. It never rejects. An error that the function throws is reported to `onError` once. Not possible in a pino target.
   * @default the `waitUntil` of the request, where the platform provides one as Vercel does, or as Next.js asks for
   */
  readonly waitUntil?: ((promise: Promise<void>) => void) | undefined
}

type Resolved = {
  readonly [Name in keyof SluiceOptions]-?: Exclude<SluiceOptions[Name], undefined>
}

/** Complete options. A value is undefined only where that has a meaning of its own. */
export interface ResolvedOptions
  extends Omit<
    Resolved,
    | 'apiKey'
    | 'accessToken'
    | 'bucket'
    | 'logBucket'
    | 'valueBucket'
    | 'appVersion'
    | 'env'
    | 'level'
    | 'spoolDir'
    | 'redact'
    | 'repeat'
    | 'sample'
    | 'keepForError'
    | 'onError'
    | 'waitUntil'
  > {
  readonly redact: Redaction | undefined
  readonly repeat: RepeatOption | undefined
  /** Look a level up with `Object.hasOwn`: its name may be that of a method of all objects. */
  readonly sample: LevelShares | undefined
  readonly keepForError: KeepForErrorOption | undefined
  /** Empty if there is no key: content operations can use the token instead. */
  readonly apiKey: Secret
  /** The file with the key. */
  readonly apiKeyFile: string | undefined
  readonly accessToken: Secret | undefined
  /** The file with the token. */
  readonly accessTokenFile: string | undefined
  readonly logBucket: string | undefined
  readonly valueBucket: string | undefined
  readonly appVersion: string | undefined
  readonly env: string | undefined
  readonly level: string | undefined
  readonly spoolDir: string | undefined
  readonly onError: ((error: SluiceError) => void) | undefined
  readonly waitUntil: ((promise: Promise<void>) => void) | undefined
}

export type OptionName = keyof SluiceOptions

/** The source of each option's value: `option`, the name of a variable or of a fallback, or `default`. */
export type Sources = Readonly<Partial<Record<OptionName, string>>>
