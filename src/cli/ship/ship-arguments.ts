import { readArguments } from '../arguments.js'
import { jsonHelp } from '../ending.js'

export interface ShipArguments {
  /** Names of files; `-` is stdin. */
  readonly files: readonly string[]
  readonly follow: boolean
  /** With `follow`: only what is written from now on. */
  readonly fromEnd: boolean
  readonly quiet: boolean
  readonly json: boolean
}

export type ShipRequest =
  | { readonly type: 'run'; readonly arguments: ShipArguments }
  | { readonly type: 'help' }
  | { readonly type: 'wrong'; readonly message: string }

export const shipHelp = `Usage: sluice ship [FILE…] [options]

Sends each line of the files, or of stdin (no FILE, or -), as a log record. What pino wrote, and winston's json format, keeps its level,
time, fields and errors; any other line is text of level info, with the time at which it was read. Empty lines are skipped.

  --follow     wait for more: lines that are added, a file that is renamed, deleted or cut and begun anew, one that is not there yet
  --from-end   with --follow: leave out what is in the files now
  --quiet      pass nothing on; without it, what comes from stdin goes on to stdout byte for byte, unless stdin is a terminal
  --json       ${jsonHelp}; implies --quiet
  --help       print this

The service: SLUICE_URL, SLUICE_API_KEY (or SLUICE_API_KEY_FILE) and SLUICE_BUCKET; SLUICE_APP_NAME, SLUICE_ENV, SLUICE_LEVEL and the other
options of records and delivery count, too. Without SLUICE_APP_NAME the service is called what the nearest package.json says.

Nothing is given up for want of room: when the queue is full, no more is read, and whoever writes to the pipe waits, as with any
filter. Files are left off where the service refuses the key, the bucket or the plan, or takes nothing for a minute; a pipe and
--follow wait for as long as it takes, the end of the pipe excepted.

At the end of stdin, and at SIGTERM or Ctrl-C, what was read is delivered before it ends; after a signal within SLUICE_SHUTDOWN_TIMEOUT_MS
(and half a second, in which the program at the other end of the pipe may write its last lines). The second signal ends it at once.
Nothing is remembered from one run to the next: after kill -9, or when it is started again on the same file, records come twice.

Exit status: 0 every line was delivered, or is in the spool (SLUICE_SPOOL_DIR); 1 a record was rejected or dropped, or a file could not be
read to its end; 2 the command line or the configuration is wrong.

Examples:
  node app.js | sluice ship
  node app.js | sluice ship | npx pino-pretty
  sluice ship app.log app.log.1
  sluice ship --follow --from-end /var/log/app/app.log
  journalctl -f -o cat -u app | SLUICE_APP_NAME=app sluice ship --quiet
`

/** Read the command line of `sluice ship`. */
export function readShipArguments(written: readonly string[]): ShipRequest {
  const read = readArguments(written, {
    follow: { type: 'boolean', short: 'f' },
    'from-end': { type: 'boolean' },
    quiet: { type: 'boolean', short: 'q' },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  })
  if (!read.ok) return wrong(read.message)
  const { flags, operands } = read
  if (flags.has('help')) return { type: 'help' }
  const files = operands.length === 0 ? ['-'] : operands
  const seen = new Set<string>()
  const twice = files.find((file) => seen.size === seen.add(file).size)
  if (twice !== undefined) return wrong(`FILE: expected each file once, got ${twice} twice`)
  const follow = flags.has('follow')
  if (follow && operands.every((file) => file === '-')) return wrong('--follow: expected a FILE, got none')
  if (flags.has('from-end') && !follow) return wrong('--from-end: expected together with --follow, got it alone')
  const [fromEnd, json] = [flags.has('from-end'), flags.has('json')]
  return { type: 'run', arguments: { files, follow, fromEnd, quiet: json || flags.has('quiet'), json } }
}

function wrong(message: string): ShipRequest {
  return { type: 'wrong', message }
}
