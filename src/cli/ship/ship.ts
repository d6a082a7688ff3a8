import { ConfigError } from '../../errors/sluice-error.js'
import { resolve } from '../../options/resolve.js'
import { printResolved, reportMisspelt } from '../../process/configure.js'
import { systemClock } from '../../runtime/clock.js'
import { readArguments } from '../arguments.js'
import { Ending, jsonHelp, printOwn } from '../output.js'
import { Outlet } from './input.js'
import { ShipRun } from './run.js'

/** The command `sluice ship`: resolves with the exit status. */
export async function ship(written: readonly string[]): Promise<number> {
  const request = readShipArguments(written)
  if (request.type === 'help') {
    printOwn(shipHelp)
    return 0
  }
  if (request.type === 'wrong') return new Ending('ship').wrong(request.message)
  const { files, quiet, json } = request.arguments
  const ending = new Ending('ship', { json })
  // Nobody may read what it says.
  process.stderr.on('error', () => {})
  try {
    reportMisspelt()
    const resolution = resolve({}, { environment: process.env, needs: 'logs', folder: process.cwd() })
    if (resolution.state === 'off' && resolution.reason === 'not-configured') {
      return ending.fail(2, 'there is nowhere to ship to: set SLUICE_URL, SLUICE_API_KEY and SLUICE_BUCKET')
    }
    const passes = !quiet && files.includes('-') && !process.stdin.isTTY
    const outlet = passes ? new Outlet(process.stdout) : undefined
    if (resolution.state === 'off') return await passOn(request.arguments, { outlet, ending })
    printResolved(resolution)
    const run = new ShipRun(request.arguments, { options: resolution.options, outlet, ending, clock: systemClock })
    const status = await run.run()
    // The reader of stdout has stopped to read; what it has not taken would keep the process.
    if (outlet?.pending && run.interrupted) process.exit(status)
    return status
  } catch (error) {
    if (error instanceof ConfigError) return ending.fail(2, error.message)
    throw error
  }
}

/** Sluice is disabled: an application that writes to the pipe goes on as if nothing were there. */
async function passOn({ files, json }: ShipArguments, to: { outlet: Outlet | undefined; ending: Ending }): Promise<0> {
  const { outlet, ending } = to
  if (files.includes('-')) for await (const piece of process.stdin) await outlet?.pass(piece as Buffer)
  if (files.some((file) => file !== '-')) ending.complain('Sluice is disabled: nothing is shipped')
  if (json) ending.summary({ ok: true, facts: { disabled: true, lines: 0, records: 0, delivered: 0 }, lines: [] })
  return 0
}

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
