import { parseArgs } from 'node:util'
import { defaults } from './receiver.js'

export interface Arguments {
  readonly port: number
  readonly host: string
  readonly data: string
  readonly newKey: boolean
  readonly tlsCert: string | undefined
  readonly tlsKey: string | undefined
  readonly pageHost: string | undefined
  readonly events: string | undefined
  readonly json: boolean
}

export type Command =
  | { readonly type: 'start'; readonly arguments: Arguments }
  | { readonly type: 'help' | 'version' }
  | { readonly type: 'wrong'; readonly message: string }

export const helpText = `Usage: sluice-receiver [options]

Receives logs and value events over the Content, Logging and Value-Tracking HTTP API and keeps them in SQLite.

  --port PORT    port to listen on; 0 takes a free one (default ${defaults.port})
  --host HOST    address to listen on (default ${defaults.host})
  --data DIR     folder of the data, or :memory: (default ./${defaults.data})
  --tls-cert FILE, --tls-key FILE
                 certificate chain and private key, in PEM: speak HTTPS
  --page-host HOST[:PORT]
                 name under which browsers reach the page, if it is neither an IP address nor --host
  --events FILE  catalogue of events, in JSON: the page shows their names
  --new-key      make another API key and show it
  --json         print one line of JSON when ready, and nothing else
  --version      print the version
  --help         print this

Example: sluice-receiver --port 0 --data :memory: --json
`

export function readArguments(written: readonly string[]): Command {
  let values: Record<string, string | boolean | undefined>
  try {
    values = parseArgs({
      args: [...written],
      options: {
        port: { type: 'string', default: String(defaults.port) },
        host: { type: 'string', default: defaults.host },
        data: { type: 'string', default: defaults.data },
        'tls-cert': { type: 'string' },
        'tls-key': { type: 'string' },
        'page-host': { type: 'string' },
        events: { type: 'string' },
        'new-key': { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
        version: { type: 'boolean', default: false },
      },
    }).values
  } catch (error) {
    const [reason] = (error as Error).message.split(/\.[ \n]|\n/)
    return { type: 'wrong', message: `${reason?.replace(/\.$/, '')}; see sluice-receiver --help` }
  }
  if (values.help === true) return { type: 'help' }
  if (values.version === true) return { type: 'version' }
  const port = Number(values.port)
  if (!/^\d+$/.test(String(values.port)) || port > 65_535) {
    return { type: 'wrong', message: `--port: expected a number from 0 to 65535, got "${values.port}"` }
  }
  for (const name of ['host', 'data', 'tls-cert', 'tls-key', 'page-host', 'events'] as const) {
    if (values[name] === '') return { type: 'wrong', message: `--${name}: expected a value, got ""` }
  }
  const { 'tls-cert': tlsCert, 'tls-key': tlsKey } = values
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    return { type: 'wrong', message: '--tls-cert and --tls-key belong together' }
  }
  return {
    type: 'start',
    arguments: {
      port,
      host: String(values.host),
      data: String(values.data),
      newKey: values['new-key'] === true,
      tlsCert: tlsCert as string | undefined,
      tlsKey: tlsKey as string | undefined,
      pageHost: values['page-host'] as string | undefined,
      events: values.events as string | undefined,
      json: values.json === true,
    },
  }
}
