/** The kind of an option's value. Decides how its text is read and checked. */
export type OptionKind =
  | { readonly type: 'text' }
  /** Name under which browsers reach the page, with or without a port. */
  | { readonly type: 'page-host' }
  | { readonly type: 'flag' }
  /** URL of a database. */
  | { readonly type: 'database' }
  /** Minutes, hours or days. */
  | { readonly type: 'duration' }
  /** Records per second. */
  | { readonly type: 'rate' }
  | { readonly type: 'integer'; readonly min: number; readonly max: number }

/** One row of the option table. */
export interface OptionRow {
  readonly kind: OptionKind
  /** Stands for the value in the help; a flag has none. */
  readonly placeholder?: string
  readonly default?: string | number | boolean
  readonly about: string
  /** Name of the variable, where it is not made from the name of the option. */
  readonly variable?: string
}

const text = { type: 'text' } as const
const flag = { type: 'flag' } as const

/** Every option of the command with its range and its default. */
export const optionTable = {
  port: {
    kind: { type: 'integer', min: 0, max: 65_535 },
    placeholder: 'PORT',
    default: 18_400,
    about: 'port to listen on; 0 takes a free one',
  },
  host: { kind: text, placeholder: 'HOST', default: '127.0.0.1', about: 'address to listen on' },
  data: { kind: text, placeholder: 'DIR', default: 'sluice-data', about: 'folder of the data, or `:memory:`' },
  database: {
    kind: { type: 'database' },
    placeholder: 'URL',
    about: 'PostgreSQL in place of a folder: `postgres://user:password@host/database`',
    variable: 'SLUICE_DATABASE',
  },
  tlsCert: { kind: text, placeholder: 'FILE', about: 'certificate chain, in PEM: speak HTTPS. Needs `--tls-key`' },
  tlsKey: { kind: text, placeholder: 'FILE', about: 'private key of the certificate, in PEM. Needs `--tls-cert`' },
  pageHost: {
    kind: { type: 'page-host' },
    placeholder: 'HOST[:PORT]',
    about: 'name under which browsers reach the page, if it is neither an IP address nor `--host`',
  },
  events: { kind: text, placeholder: 'FILE', about: 'catalogue of events, in JSON: the page shows their names' },
  rateLimit: {
    kind: { type: 'rate' },
    placeholder: 'N/s',
    about: 'most records per second and key, such as `1000/s`; more get 429. Without it there is no limit',
  },
  retain: {
    kind: { type: 'duration' },
    placeholder: 'DURATION',
    about: 'delete records this long after they were received: `30m`, `12h`, `7d`. Without it all are kept',
  },
  accessLog: {
    kind: flag,
    default: false,
    about: 'print a line of JSON for each request on stdout; on stderr with `--json`',
  },
  newKey: { kind: flag, default: false, about: 'make another API key and show it' },
  json: { kind: flag, default: false, about: 'print one line of JSON when ready, and nothing else' },
} as const satisfies Readonly<Record<string, OptionRow>>

type Table = typeof optionTable
export type OptionName = keyof Table

type ValueOf<Kind extends OptionKind> = Kind extends { type: 'flag' }
  ? boolean
  : Kind extends { type: 'integer' | 'rate' }
    ? number
    : string

/** The values of all options. */
export type Options = {
  readonly [Name in OptionName]: Table[Name] extends { readonly default: unknown }
    ? ValueOf<Table[Name]['kind']>
    : ValueOf<Table[Name]['kind']> | undefined
}

export const optionNames = Object.keys(optionTable) as readonly OptionName[]

/** The option as it is written in a command, without the two dashes. */
export function writtenName(name: OptionName): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** The variable that sets the option. */
export function variableOf(name: OptionName): string {
  const { variable }: OptionRow = optionTable[name]
  return variable ?? `${variablePrefix}${writtenName(name).replaceAll('-', '_').toUpperCase()}`
}

/** Every variable of the receiver begins with this, unless its row says otherwise. */
export const variablePrefix = 'SLUICE_RECEIVER_'
