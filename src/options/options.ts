import type { SluiceError } from '../errors/sluice-error.js'
import type { Secret } from './secret.js'

/**
 * What the application may set. An option beats the variable that sets it, which beats the default; an empty variable is an unset one. A
 * value out of range throws `ConfigError` where Sluice is set up.
 */
export interface SluiceOptions {
  /**
   * Base URL of the service, `https:`; plain `http:` only to loopback, or with `allowInsecure`. Without URL, key and bucket Sluice is
   * off. Set by `SLUICE_URL`.
   */
  readonly url?: string | undefined
  /**
   * Sent as `x-api-key`. Never printed. `SLUICE_API_KEY_FILE` names a file that holds it, which is read again when the service refuses
   * the key. Set by `SLUICE_API_KEY`.
   */
  readonly apiKey?: string | undefined
  /**
   * Sent as `Authorization: Bearer` by content operations, and by them alone. Never printed. `SLUICE_ACCESS_TOKEN_FILE` names a file
   * that holds it. Set by `SLUICE_ACCESS_TOKEN`.
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
   * @default the runtime that it runs on
   */
  readonly runtime?: number | undefined
  /**
   * Unit of `timeStamp`, which the API leaves open: milliseconds or seconds. Set by `SLUICE_TIMESTAMP_UNIT`.
   * @default 'ms'
   */
  readonly timestampUnit?: 'ms' | 's' | undefined
  /**
   * Lowest level that is shipped, by name. Set by `SLUICE_LEVEL`.
   * @default everything that the logger lets through
   */
  readonly level?: string | undefined
  /**
   * How fields that the API has no place for follow the message: as JSON, as logfmt, or not at all. Set by `SLUICE_CONTEXT`.
   * @default 'json'
   */
  readonly context?: 'json' | 'logfmt' | 'none' | undefined
  /**
   * Longest `message`, in bytes of UTF-8; the rest is cut and said so. 256 to 16777216. Set by `SLUICE_MAX_MESSAGE_BYTES`.
   * @default 32768
   */
  readonly maxMessageBytes?: number | undefined
  /**
   * Where winston, `sluicePino()` and `track` deliver: in a worker, or in the application's thread. pino's target delivers in pino's
   * worker, whatever this says. Set by `SLUICE_MODE`.
   * @default 'worker', 'inline' in serverless runtimes
   */
  readonly mode?: 'worker' | 'inline' | undefined
  /**
   * Bound of what an engine holds, queued and in flight, in records. When it is full, the least severe goes first, the oldest first
   * within it. 1 to 100000000. Set by `SLUICE_MAX_QUEUE_RECORDS`.
   * @default 100000
   */
  readonly maxQueueRecords?: number | undefined
  /**
   * The same bound in bytes. 1024 to 1099511627776. Set by `SLUICE_MAX_QUEUE_BYTES`.
   * @default 67108864
   */
  readonly maxQueueBytes?: number | undefined
  /**
   * Most connections per lane; how many are used adapts. 1 to 1024. Set by `SLUICE_MAX_CONNECTIONS`.
   * @default 64
   */
  readonly maxConnections?: number | undefined
  /**
   * Most records in one batch on one connection; how many are used adapts. 1 to 1024. Set by `SLUICE_MAX_BATCH`.
   * @default 64
   */
  readonly maxBatch?: number | undefined
  /**
   * Whether several requests may be in flight on one connection. `auto`: where the service has been seen to speak plain HTTP/1.1, and
   * there is no proxy; value records only where it echoes `idempotency-key`. It ends at the first answer that is not understood, and
   * when connections break again and again. `off`: never. Set by `SLUICE_PIPELINING`.
   * @default 'auto'
   */
  readonly pipelining?: 'auto' | 'off' | undefined
  /**
   * How long one request may take, in milliseconds. 1 to 600000. Set by `SLUICE_REQUEST_TIMEOUT_MS`.
   * @default 10000
   */
  readonly requestTimeoutMs?: number | undefined
  /**
   * How long the end of the process waits for delivery, in milliseconds. 0 to 8000. Set by `SLUICE_SHUTDOWN_TIMEOUT_MS`.
   * @default 5000
   */
  readonly shutdownTimeoutMs?: number | undefined
  /**
   * First ceiling of the backoff, in milliseconds; full jitter, doubled with each attempt. 1 to 86400000. Set by `SLUICE_RETRY_BASE_MS`.
   * @default 500
   */
  readonly retryBaseMs?: number | undefined
  /**
   * Last ceiling of the backoff, in milliseconds. 1 to 86400000. Set by `SLUICE_RETRY_CAP_MS`.
   * @default 30000
   */
  readonly retryCapMs?: number | undefined
  /**
   * First wait of a paused lane before it probes, in milliseconds; doubled with each probe. 1 to 86400000. Set by
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
   * Folder for records that are not delivered yet, so that they outlive the process; made when it is first needed. Processes may share
   * it. Set by `SLUICE_SPOOL_DIR`.
   * @default no spool: memory alone
   */
  readonly spoolDir?: string | undefined
  /**
   * Most bytes that an engine keeps there; beyond it the least severe and oldest go. 65536 to 1099511627776. Set by
   * `SLUICE_SPOOL_MAX_BYTES`.
   * @default 536870912
   */
  readonly spoolMaxBytes?: number | undefined
  /**
   * How long a record may be there, in hours. 1 to 8760. Set by `SLUICE_SPOOL_MAX_AGE_HOURS`.
   * @default 72
   */
  readonly spoolMaxAgeHours?: number | undefined
  /**
   * Wait for the disk after each batch that is written (`fdatasync`). Without it what was accepted survives the process, not the power.
   * Set by `SLUICE_SPOOL_SYNC`.
   * @default false
   */
  readonly spoolSync?: boolean | undefined
  /**
   * Deliver before SIGTERM and SIGINT end the process, where the application has no listener of its own. Set by `SLUICE_HANDLE_SIGNALS`.
   * @default true
   */
  readonly handleSignals?: boolean | undefined
  /**
   * Allow `http:` to hosts other than loopback. Set by `SLUICE_ALLOW_INSECURE`.
   * @default false
   */
  readonly allowInsecure?: boolean | undefined
  /**
   * Turn Sluice off: everything becomes a no-op. Set by `SLUICE_DISABLED`.
   * @default false
   */
  readonly disabled?: boolean | undefined
  /**
   * Print the resolved options with the source of each, and the ledger at the end, on stderr. Set by `SLUICE_DEBUG`.
   * @default false
   */
  readonly debug?: boolean | undefined
  /** Told of drops, rejections and pauses, each an error with a `code`. What it throws is ignored. In a pino target it cannot be given. */
  readonly onError?: ((error: SluiceError) => void) | undefined
}

type Resolved = {
  readonly [Name in keyof SluiceOptions]-?: Exclude<SluiceOptions[Name], undefined>
}

/** Options in which nothing is left open; `undefined` only where the absence itself means something. */
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
    | 'onError'
  > {
  /** Empty when there is none, which only content operations can do with. */
  readonly apiKey: Secret
  /** The file that the key was read from. */
  readonly apiKeyFile: string | undefined
  readonly accessToken: Secret | undefined
  /** The file that the token was read from. */
  readonly accessTokenFile: string | undefined
  readonly logBucket: string | undefined
  readonly valueBucket: string | undefined
  readonly appVersion: string | undefined
  readonly env: string | undefined
  readonly level: string | undefined
  readonly spoolDir: string | undefined
  readonly onError: ((error: SluiceError) => void) | undefined
}

export type OptionName = keyof SluiceOptions

/** Where each option's value came from: `option`, a variable's name, a fallback's name, or `default`. */
export type Sources = Readonly<Partial<Record<OptionName, string>>>
