import { endOptions } from './end-defaults.js'
import type { LineWindowKind } from './line-window.js'
import type { OptionName } from './options.js'

/** The kind of an option's value. Decides how variables are read and checked, and what the table of docs/options.md says. */
export type OptionKind =
  | { readonly type: 'text' }
  /** Name of a bucket: one segment of a path. */
  | { readonly type: 'name' }
  | { readonly type: 'secret' }
  | { readonly type: 'url' }
  | { readonly type: 'flag' }
  | { readonly type: 'integer'; readonly min: number; readonly max: number }
  | { readonly type: 'choice'; readonly values: readonly string[] }
  | { readonly type: 'redaction' }
  | LineWindowKind
  | { readonly type: 'level-shares' }
  | { readonly type: 'function' }

/** One row of the option table. */
export interface OptionRow {
  readonly kind: OptionKind
  /** The variable that sets the option. */
  readonly variable?: string
  /** The variable with the path of a file that holds the value. */
  readonly fileVariable?: string
  /** The variable with the names of patterns to redact. */
  readonly patternsVariable?: string
  readonly default?: string | number | boolean
  /** The default in words if it is not a constant. */
  readonly defaultText?: string
  readonly about: string
}

const text = { type: 'text' } as const
const name = { type: 'name' } as const
const flag = { type: 'flag' } as const
const integer = (min: number, max: number) => ({ type: 'integer', min, max }) as const
const lineWindow = (count: 'most' | 'lines', max: number) => ({ type: 'line-window', count, max }) as const
const choice = (...values: string[]) => ({ type: 'choice', values }) as const

const day = 86_400_000
const mebibyte = 1_048_576

/** All variables of an option. */
export function variablesOf({ variable, fileVariable, patternsVariable }: OptionRow): readonly string[] {
  return [variable, fileVariable, patternsVariable].filter((name) => name !== undefined)
}

/** Every option with its variable, its range and its default. */
export const optionTable: { readonly [Name in OptionName]-?: OptionRow } = {
  url: { kind: { type: 'url' }, variable: 'SLUICE_URL', about: 'base URL of the service' },
  apiKey: {
    kind: { type: 'secret' },
    variable: 'SLUICE_API_KEY',
    fileVariable: 'SLUICE_API_KEY_FILE',
    about: 'the API key, or a file that holds it; never printed',
  },
  accessToken: {
    kind: { type: 'secret' },
    variable: 'SLUICE_ACCESS_TOKEN',
    fileVariable: 'SLUICE_ACCESS_TOKEN_FILE',
    about: 'the access token for content (`sluice/content`, `sluice-tools migrate`), or a file that holds it; never printed',
  },
  bucket: { kind: name, variable: 'SLUICE_BUCKET', about: 'bucket (project) of both lanes' },
  logBucket: {
    kind: name,
    variable: 'SLUICE_LOG_BUCKET',
    defaultText: '`bucket`',
    about: 'bucket of log records',
  },
  valueBucket: {
    kind: name,
    variable: 'SLUICE_VALUE_BUCKET',
    defaultText: '`bucket`',
    about: 'bucket of value records',
  },
  appName: {
    kind: text,
    variable: 'SLUICE_APP_NAME',
    defaultText: '`OTEL_SERVICE_NAME`, `service.name`, `DD_SERVICE`, nearest package.json, `unknown_service:node`',
    about: 'name of the service',
  },
  appVersion: {
    kind: text,
    variable: 'SLUICE_APP_VERSION',
    defaultText: '`service.version`, `DD_VERSION`, nearest package.json',
    about: 'version of the service',
  },
  env: {
    kind: text,
    variable: 'SLUICE_ENV',
    defaultText: '`deployment.environment.name`, `DD_ENV`, `NODE_ENV`',
    about: 'environment',
  },
  machineName: {
    kind: text,
    variable: 'SLUICE_MACHINE_NAME',
    defaultText: 'host name',
    about: 'host of the application',
  },
  runtimeVersion: { kind: text, defaultText: 'such as `v20.20.2`', about: 'version of the runtime' },
  runtime: {
    kind: integer(0, 65_535),
    variable: 'SLUICE_RUNTIME',
    defaultText: '1 on Node.js, 2 on Bun, 3 on Deno',
    about: 'number of the runtime',
  },
  timestampUnit: {
    kind: choice('ms', 's'),
    variable: 'SLUICE_TIMESTAMP_UNIT',
    default: 'ms',
    about: 'unit of `timeStamp`: milliseconds or seconds',
  },
  level: {
    kind: text,
    variable: 'SLUICE_LEVEL',
    defaultText: 'all that the logger lets through',
    about: 'lowest level that is sent',
  },
  context: {
    kind: choice('json', 'logfmt', 'none'),
    variable: 'SLUICE_CONTEXT',
    default: 'json',
    about: 'how fields without a place in the API follow the message',
  },
  maxMessageBytes: {
    kind: integer(256, 16 * mebibyte),
    variable: 'SLUICE_MAX_MESSAGE_BYTES',
    default: 32_768,
    about: 'longest message; the rest is cut, with a mark that gives the missing bytes',
  },
  redact: {
    kind: { type: 'redaction' },
    variable: 'SLUICE_REDACT',
    patternsVariable: 'SLUICE_REDACT_PATTERNS',
    defaultText: 'nothing',
    about: 'keys whose values are hidden, and patterns of texts that are; see [redaction](redaction.md)',
  },
  repeat: {
    kind: lineWindow('most', 1_000_000),
    variable: 'SLUICE_REPEAT',
    defaultText: 'no bound',
    about:
      'most lines with the same message per time, such as `10/60s`; see [repeated lines](volume.md#repeated-lines)',
  },
  sample: {
    kind: { type: 'level-shares' },
    variable: 'SLUICE_SAMPLE',
    defaultText: 'all lines',
    about: 'share of the lines of a level that is sent, such as `debug:0.01,info:0.25`; see [volume](volume.md)',
  },
  keepForError: {
    kind: lineWindow('lines', 100_000),
    variable: 'SLUICE_KEEP_FOR_ERROR',
    defaultText: 'none',
    about:
      'most lines that are kept back for an error, and for how long, such as `200/30s`; see [volume](volume.md#lines-that-only-an-error-needs)',
  },
  mode: {
    kind: choice('worker', 'inline'),
    variable: 'SLUICE_MODE',
    defaultText: '`worker`; `inline` in serverless runtimes',
    about: 'thread in which winston and `track` deliver: a worker, or the application’s own thread',
  },
  maxQueueRecords: {
    kind: integer(1, 100_000_000),
    variable: 'SLUICE_MAX_QUEUE_RECORDS',
    default: 100_000,
    about: 'most records held in memory, in flight included',
  },
  maxQueueBytes: {
    kind: integer(1024, 2 ** 40),
    variable: 'SLUICE_MAX_QUEUE_BYTES',
    default: 64 * mebibyte,
    about: 'most bytes held in memory, in flight included',
  },
  maxConnections: {
    kind: integer(1, 1024),
    variable: 'SLUICE_MAX_CONNECTIONS',
    default: 64,
    about: 'most connections per lane; the number in use adapts to the service',
  },
  maxBatch: {
    kind: integer(1, 1024),
    variable: 'SLUICE_MAX_BATCH',
    default: 256,
    about: 'most records in one batch on one connection',
  },
  pipelining: {
    kind: choice('auto', 'off'),
    variable: 'SLUICE_PIPELINING',
    default: 'auto',
    about:
      'several requests in flight on one connection, if the service supports it; value records only if it echoes `idempotency-key`; `off`: never',
  },
  requestTimeoutMs: {
    kind: integer(1, 600_000),
    variable: 'SLUICE_REQUEST_TIMEOUT_MS',
    default: 10_000,
    about: 'longest time for one request',
  },
  shutdownTimeoutMs: {
    kind: integer(0, 8000),
    ...endOptions.shutdownTimeoutMs,
    about: 'longest wait for delivery at the end of the process',
  },
  retryBaseMs: {
    kind: integer(1, day),
    variable: 'SLUICE_RETRY_BASE_MS',
    default: 500,
    about: 'first upper bound of the backoff (full jitter, doubles)',
  },
  retryCapMs: {
    kind: integer(1, day),
    variable: 'SLUICE_RETRY_CAP_MS',
    default: 30_000,
    about: 'last upper bound of the backoff',
  },
  probeBaseMs: {
    kind: integer(1, day),
    variable: 'SLUICE_PROBE_BASE_MS',
    default: 30_000,
    about: 'first wait of a paused lane before it probes (doubles)',
  },
  probeCapMs: {
    kind: integer(1, day),
    variable: 'SLUICE_PROBE_CAP_MS',
    default: 300_000,
    about: 'longest wait between probes',
  },
  spoolDir: {
    kind: text,
    variable: 'SLUICE_SPOOL_DIR',
    defaultText: 'none: memory alone',
    about:
      'folder that keeps records until they are delivered, after the end of the process too; processes may share it',
  },
  spoolMaxBytes: {
    kind: integer(65_536, 2 ** 40),
    variable: 'SLUICE_SPOOL_MAX_BYTES',
    default: 512 * mebibyte,
    about: 'most bytes of one engine in that folder; beyond it the least severe and oldest records are dropped',
  },
  spoolMaxAgeHours: {
    kind: integer(1, 8760),
    variable: 'SLUICE_SPOOL_MAX_AGE_HOURS',
    default: 72,
    about: 'longest time that a record stays in that folder',
  },
  spoolSync: {
    kind: flag,
    variable: 'SLUICE_SPOOL_SYNC',
    default: false,
    about:
      'wait for the disk after each batch: otherwise records survive the end of the process, but not a power failure',
  },
  handleSignals: {
    kind: flag,
    ...endOptions.handleSignals,
    about:
      'deliver before SIGTERM, SIGINT, SIGHUP, SIGQUIT or SIGUSR2 ends the process, if the application has no listener for it',
  },
  allowInsecure: {
    kind: flag,
    variable: 'SLUICE_ALLOW_INSECURE',
    default: false,
    about: 'allow `http:` to hosts other than loopback',
  },
  disabled: { kind: flag, variable: 'SLUICE_DISABLED', default: false, about: 'turn Sluice off' },
  debug: {
    kind: flag,
    variable: 'SLUICE_DEBUG',
    default: false,
    about: 'print the resolved options and their sources on stderr at the start',
  },
  onError: {
    kind: { type: 'function' },
    about: 'called with each kind of trouble (drops, rejections, pauses …); not possible in a pino target',
  },
  waitUntil: {
    kind: { type: 'function' },
    defaultText: 'that of the request, on Vercel and for Next.js',
    about: 'called with a promise of the delivery, in each turn that accepts records; not possible in a pino target',
  },
}

export const optionNames = Object.keys(optionTable) as readonly OptionName[]
