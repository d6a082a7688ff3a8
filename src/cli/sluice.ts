import { packageVersion } from '../runtime/version.js'
import { asProgram, helpOption, readCommandLine, unknownName } from './command.js'
import { deadLetters } from './dead-letters/dead-letters.js'
import { doctor } from './doctor/doctor.js'
import { events } from './events/events.js'
import { logs } from './logs/logs.js'
import { migrate } from './migrate/migrate.js'
import { printOwn, sayLine } from './output.js'
import { replay } from './replay/replay.js'
import { ship } from './ship/ship.js'
import { values } from './values/values.js'

const commands = {
  doctor: asProgram(doctor),
  ship: asProgram(ship),
  logs: asProgram(logs),
  values: asProgram(values),
  replay: asProgram(replay),
  'dead-letters': asProgram(deadLetters),
  events: asProgram(events),
  migrate: asProgram(migrate),
}

const helpText = `Usage: sluice COMMAND [options]

  doctor         check everything between this application and the service
  ship [FILE…]   send the lines of files, or of stdin, as log records
  logs           print the newest log records of the receiver, and follow them
  values         count the value records of the receiver by event
  replay DIR     send the records of a spool or of a dead-letter folder
  dead-letters   list, show, edit, replay and drop rejected records of a spool
  events check   check a catalogue of events, a JSON file
  migrate FILE   create a content entry for each line of a file

  --help         print this; sluice COMMAND --help prints the help of a command
  --version      print the version
`

/** The program `sluice`: resolves with its exit status. */
export async function sluice(written: readonly string[]): Promise<number> {
  // A reader that closes its end of the pipe has read enough. The work goes on.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  const [name, ...rest] = written
  if (name !== undefined && isCommand(name)) return await commands[name](rest)
  if (name !== undefined && !name.startsWith('-')) return wrong(unknownName('command', name, Object.keys(commands)))
  const line = readCommandLine(written, { help: helpOption, version: { type: 'boolean' } })
  if (typeof line === 'string') return wrong(line)
  if (line.flags.has('version')) printOwn(`${packageVersion}\n`)
  else if (line.flags.has('help')) printOwn(helpText)
  else return wrong('expected a command')
  return 0
}

function isCommand(name: string): name is keyof typeof commands {
  return Object.hasOwn(commands, name)
}

function wrong(message: string): number {
  sayLine(`sluice: ${message}; see sluice --help`)
  return 2
}
