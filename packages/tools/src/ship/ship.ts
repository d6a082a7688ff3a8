import type { Command, CommandLine } from '../../../../src/cli/command.js'
import { jsonHelp, type Output } from '../../../../src/cli/output.js'
import { resolve } from '../../../../src/options/resolve.js'
import { printResolved, reportMisspelt } from '../../../../src/process/configure.js'
import { systemClock } from '../../../../src/runtime/clock.js'
import { FollowState } from './follow-state.js'
import { Outlet } from './input.js'
import { type ShipArguments, ShipRun } from './run.js'

const help = `Usage: sluice-tools ship [FILE…] [options]

Sends each line of the files, or of stdin (no FILE, or -), as a log record. Lines of pino and of
winston's json format keep their level, time, fields and errors. Any other line becomes a text
of level info, with the time at which it was read. Empty lines are skipped.

  --follow     wait for more lines; also when a file is renamed, deleted, truncated, or does not
               exist yet
  --from-end   with --follow: skip the lines that are in the files now
  --state FILE with --follow: keep in FILE up to where lines are delivered, and go on there after
               a restart; also in files that were rotated meanwhile
  --quiet      pass nothing on; without it, stdin is copied to stdout byte for byte, unless
               stdin is a terminal
  --json       ${jsonHelp}; implies --quiet
  --help       print this

The service: SLUICE_URL, SLUICE_API_KEY (or SLUICE_API_KEY_FILE) and SLUICE_BUCKET.
SLUICE_APP_NAME, SLUICE_ENV, SLUICE_LEVEL and the other options of records and delivery apply,
too. Without SLUICE_APP_NAME, the name comes from the nearest package.json.

No record is dropped for want of room. When the queue is full, reading stops, and the program
that writes to the pipe waits, as with any filter. Files are given up when the service refuses
the key, the bucket or the plan, or takes nothing for a minute. A pipe and --follow wait without
end; after the end of the pipe, the same limits apply as for files.

At the end of stdin, at SIGTERM and at Ctrl-C, it delivers what was read and then ends. After a
signal this takes at most SLUICE_SHUTDOWN_TIMEOUT_MS, and half a second more for the last lines
of the program at the other end of the pipe. A second signal ends it at once. Without --state it
does not remember what it has sent: started again on the same file, it sends all records again.
With --state a restart loses no line of a file that is still there, uncompressed. After kill -9
the lines of the last second are sent again, with the same idempotency keys: a service that
honours these stores them once.

Exit status: 0 every line was delivered, or is in the spool (SLUICE_SPOOL_DIR); 1 a record was
rejected or dropped, or a file could not be read to its end; 2 the command line or the
configuration is wrong.

Examples:
  node app.js | sluice-tools ship
  node app.js | sluice-tools ship | npx pino-pretty
  sluice-tools ship app.log app.log.1
  sluice-tools ship --follow --state ship.json /var/log/app/app.log
  journalctl -f -o cat -u app | SLUICE_APP_NAME=app sluice-tools ship --quiet
`

/** The command `sluice-tools ship`. */
export const ship: Command<ShipArguments> = {
  name: 'sluice-tools ship',
  help,
  options: {
    follow: { type: 'boolean', short: 'f' },
    'from-end': { type: 'boolean' },
    state: { type: 'string' },
    quiet: { type: 'boolean', short: 'q' },
  },
  read({ texts, flags, operands }: CommandLine) {
    const files = operands.length === 0 ? ['-'] : operands
    const seen = new Set<string>()
    const twice = files.find((file) => seen.size === seen.add(file).size)
    if (twice !== undefined) return `FILE: expected each file once, got ${twice} twice`
    const [follow, fromEnd, json] = [flags.has('follow'), flags.has('from-end'), flags.has('json')]
    if (follow && operands.every((file) => file === '-')) return '--follow: expected a FILE, got none'
    if (fromEnd && !follow) return '--from-end: expected together with --follow, got it alone'
    const { state } = texts
    if (state !== undefined && !follow) return '--state: expected together with --follow, got it alone'
    return { files, follow, fromEnd, state, quiet: json || flags.has('quiet'), json }
  },
  async run(given, output) {
    reportMisspelt()
    const resolution = resolve({}, { environment: process.env, needs: 'logs', folder: process.cwd() })
    if (resolution.state === 'off' && resolution.reason === 'not-configured') {
      return output.fail(2, 'there is nowhere to ship to: set SLUICE_URL, SLUICE_API_KEY and SLUICE_BUCKET')
    }
    const passesOn = !given.quiet && given.files.includes('-') && !process.stdin.isTTY
    const outlet = passesOn ? new Outlet(process.stdout) : undefined
    if (resolution.state === 'off') return await passOnly(given, { outlet, output })
    printResolved(resolution)
    let state: FollowState | undefined
    try {
      state = given.state === undefined ? undefined : FollowState.open(given.state)
    } catch (error) {
      return output.fail(2, (error as Error).message)
    }
    const run = new ShipRun(given, { options: resolution.options, state, outlet, output, clock: systemClock })
    const status = await run.run()
    // A reader of stdout that stands still would keep the process alive.
    if (outlet?.pending && run.interrupted) process.exit(status)
    return status
  },
}

/** Sluice is disabled. The program that writes to the pipe must not notice. */
async function passOnly(
  { files, json }: ShipArguments,
  { outlet, output }: { readonly outlet: Outlet | undefined; readonly output: Output },
): Promise<0> {
  if (files.includes('-')) for await (const piece of process.stdin) await outlet?.pass(piece as Buffer)
  if (files.some((file) => file !== '-')) output.complain('Sluice is disabled: nothing is shipped')
  if (json) output.summary({ ok: true, facts: { disabled: true, lines: 0, records: 0, delivered: 0 }, lines: [] })
  return 0
}
