import type { Secret } from './secret.js'

/**
 * What the application may set. Every option has a variable (see the table in the README); an option beats its variable.
 * Durations are in milliseconds, sizes in bytes.
 */
export interface SluiceOptions {
  /** Base URL of the service, `https:`; plain `http:` only to loopback, or with `allowInsecure`. */
  readonly url?: string | undefined
  /** Sent as `x-api-key`. Never printed. */
  readonly apiKey?: string | undefined
  /** Sent as `Authorization: Bearer` by content operations, and by them alone. Never printed. */
  readonly accessToken?: string | undefined
  /** Bucket (project) of both lanes. */
  readonly bucket?: string | undefined
  /** Bucket of log records. @default the option `bucket` */
  readonly logBucket?: string | undefined
  /** Bucket of value records. @default the option `bucket` */
  readonly valueBucket?: string | undefined
  /** The record field `appName`. @default OTEL_SERVICE_NAME, DD_SERVICE, or the name in the nearest package.json */
  readonly appName?: string | undefined
  /** The record field `appVersion`. @default DD_VERSION, or the version in the nearest package.json */
  readonly appVersion?: string | undefined
  /** The record field `env`. @default DD_ENV, NODE_ENV */
  readonly env?: string | undefined
  /** The record field `machineName`. @default os.hostname() */
  readonly machineName?: string | undefined
  /** The record field `runtimeVersion`. @default such as `v20.20.2` */
  readonly runtimeVersion?: string | undefined
  /** The record field `runtime`: 1 Node.js, 2 Bun, 3 Deno. @default the runtime that it runs on */
  readonly runtime?: number | undefined
  /** Unit of `timeStamp`, which the API leaves open. @default 'ms' */
  readonly timestampUnit?: 'ms' | 's' | undefined
  /** Lowest level that is shipped, by name. @default everything that the logger lets through */
  readonly level?: string | undefined
  /** How fields that the API has no place for follow the message. @default 'json' */
  readonly context?: 'json' | 'logfmt' | 'none' | undefined
  /** Longest `message`, in bytes of UTF-8; the rest is cut and said so. 256 to 16777216. @default 32768 */
  readonly maxMessageBytes?: number | undefined
  /** Where winston and `track` deliver: in a worker, or in the application's thread. @default 'worker', 'inline' in serverless runtimes */
  readonly mode?: 'worker' | 'inline' | undefined
  /** Bound of what an engine holds, queued and in flight, in records. @default 100000 */
  readonly maxQueueRecords?: number | undefined
  /** The same bound in bytes. @default 67108864 */
  readonly maxQueueBytes?: number | undefined
  /** Most connections per lane, 1 to 1024. @default 64 */
  readonly maxConnections?: number | undefined
  /** Most records in one batch on one connection, 1 to 1024. @default 64 */
  readonly maxBatch?: number | undefined
  /**
   * Whether several requests may be in flight on one connection. `auto`: where the service has been seen to speak plain HTTP/1.1, and
   * there is no proxy; value records only where it echoes `idempotency-key`. It ends at the first answer that is not understood, and
   * when connections break again and again. `off`: never. @default 'auto'
   */
  readonly pipelining?: 'auto' | 'off' | undefined
  /** How long one request may take, 1 ms to 10 minutes. @default 10000 */
  readonly requestTimeoutMs?: number | undefined
  /** How long the end of the process waits for delivery, 0 to 8000. @default 5000 */
  readonly shutdownTimeoutMs?: number | undefined
  /** First ceiling of the backoff; full jitter, doubled with each attempt. @default 500 */
  readonly retryBaseMs?: number | undefined
  /** Last ceiling of the backoff. @default 30000 */
  readonly retryCapMs?: number | undefined
  /** First wait of a paused lane before it probes. @default 30000 */
  readonly probeBaseMs?: number | undefined
  /** Longest wait of a paused lane between probes. @default 300000 */
  readonly probeCapMs?: number | undefined
  /**
   * Folder for records that are not delivered yet, so that they outlive the process; made when it is first needed. Processes may share it.
   * @default no spool: memory alone
   */
  readonly spoolDir?: string | undefined
  /** Most bytes that an engine keeps there, 64 KiB to 1 TiB; beyond it the least severe and oldest go. @default 536870912 */
  readonly spoolMaxBytes?: number | undefined
  /** How long a record may be there, in hours, 1 to 8760. @default 72 */
  readonly spoolMaxAgeHours?: number | undefined
  /**
   * Wait for the disk after each batch that is written (`fdatasync`). Without it what was accepted survives the process, not the power.
   * @default false
   */
  readonly spoolSync?: boolean | undefined
  /** Deliver before SIGTERM and SIGINT end the process, where the application has no listener of its own. @default true */
  readonly handleSignals?: boolean | undefined
  /** Allow `http:` to hosts other than loopback. @default false */
  readonly allowInsecure?: boolean | undefined
  /** Turn Sluice off: everything becomes a no-op. @default false */
  readonly disabled?: boolean | undefined
  /** Print the resolved options with the source of each, and the ledger at the end, on stderr. @default false */
  readonly debug?: boolean | undefined
  /** Told of drops, rejections and pauses. What it throws is ignored. In a pino target it cannot be given. */
  readonly onError?: ((error: Error) => void) | undefined
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
  readonly onError: ((error: Error) => void) | undefined
}

export type OptionName = keyof SluiceOptions
