import { packageVersion } from '../runtime/version.js'
import { readArguments, unknown } from './arguments.js'
import { doctor } from './doctor/doctor.js'
import { migrate } from './migrate/migrate.js'
import { printOwn, sayLine } from './output.js'
import { replay } from './replay/replay.js'
import { ship } from './ship/ship.js'

/** Every command takes its part of the command line and resolves with the exit status. */
const commands: Readonly<Record<string, (written: readonly string[]) => Promise<number>>> = {
  doctor,
  ship,
  replay,
  migrate,
}

const helpText = `Usage: sluice COMMAND [options]

  doctor         look for what keeps records from the service
  ship [FILE…]   send the lines of files, or of stdin, as log records
  replay DIR     send the records of a spool, or of dead letters
  migrate FILE   make content entries of the lines of a file

  --help         print this; sluice COMMAND --help tells of a command
  --version      print the version
`

/** The program `sluice`: resolves with its exit status. */
export async function sluice(written: readonly string[]): Promise<number> {
  // Whoever closes the other end has read enough; the work goes on.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  const [name, ...rest] = written
  const command = name !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command !== undefined) return await command(rest)
  if (name !== undefined && !name.startsWith('-')) return wrong(unknown('command', name, Object.keys(commands)))
  const read = readArguments(written, {
    help: { type: 'boolean', short: 'h' },
    version: { type: 'boolean' },
  })
  if (!read.ok) return wrong(read.message)
  if (read.flags.has('version')) printOwn(`${packageVersion}\n`)
  else if (read.flags.has('help')) printOwn(helpText)
  else return wrong('expected a command')
  return 0
}

function wrong(message: string): number {
  sayLine(`sluice: ${message}; see sluice --help`)
  return 2
}
