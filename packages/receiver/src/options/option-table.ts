import { anyText, databaseUrl, duration, flag, integer, type OptionKind, pageName, rate } from './option-value.js'

/** One row of the option table. */
export interface OptionRow {
  readonly kind: OptionKind<string | number | boolean>
  /** Stands for the value in the help; a flag has none. */
  readonly placeholder?: string
  readonly default?: string | number | boolean
  readonly about: string
  /** Name of the variable, where it is not made from the name of the option. */
  readonly variable?: string
}

/** Every option of the command with its range and its default. */
export const optionTable = {
  port: {
    kind: integer(0, 65_535),
    placeholder: 'PORT',
    default: 18_400,
    about: 'port to listen on; 0 takes a free one',
  },
  host: { kind: anyText, placeholder: 'HOST', default: '127.0.0.1', about: 'address to listen on' },
  data: { kind: anyText, placeholder: 'DIR', default: 'sluice-data', about: 'folder of the data, or `:memory:`' },
  database: {
    kind: databaseUrl,
    placeholder: 'URL',
    about: 'PostgreSQL in place of a folder: `postgres://user:password@host/database`',
    variable: 'SLUICE_DATABASE',
  },
  tlsCert: { kind: anyText, placeholder: 'FILE', about: 'certificate chain, in PEM: speak HTTPS. Needs `--tls-key`' },
  tlsKey: { kind: anyText, placeholder: 'FILE', about: 'private key of the certificate, in PEM. Needs `--tls-cert`' },
  pageHost: {
    kind: pageName,
    placeholder: 'HOST[:PORT]',
    about: 'name under which browsers reach the page, if it is neither an IP address nor `--host`',
  },
  events: { kind: anyText, placeholder: 'FILE', about: 'catalogue of events, in JSON: the page shows their names' },
  rateLimit: {
    kind: rate,
    placeholder: 'N/s',
    about: 'most records per second and key, such as `1000/s`; more get 429. Without it there is no limit',
  },
  retain: {
    kind: duration,
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

type ValueOf<Name extends OptionName> = Table[Name]['kind'] extends OptionKind<infer Value> ? Value : never

/** The values of all options. */
export type Options = {
  readonly [Name in OptionName]: Table[Name] extends { readonly default: unknown }
    ? ValueOf<Name>
    : ValueOf<Name> | undefined
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
