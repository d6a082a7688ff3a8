import { readFile } from 'node:fs/promises'
import { counted } from '../../errors/counted.js'
import { type Command, type CommandLine, unknownName } from '../command.js'
import { jsonHelp, type Output, type Status } from '../output.js'
import { checkCatalogue } from './catalogue-check.js'

interface EventsArguments {
  readonly file: string
  readonly json: boolean
}

const defaultFile = 'events.json'

const help = `Usage: sluice events check [FILE]

Checks a catalogue of events: a JSON object with the events by name, each as its number or as an
object with number and description. Prints each fault with its line: a name, number or field
that is there twice, a number that is none, an unknown field.

  FILE    the catalogue (default ${defaultFile})
  --json  ${jsonHelp}
  --help  print this

Exit status: 0 there are no faults, 1 there are some, 2 the command line is wrong or FILE
cannot be read.

Examples:
  sluice events check
  sluice events check src/events.json --json
`

/** The command `sluice events`. */
export const events: Command<EventsArguments> = {
  name: 'events',
  help,
  options: {},
  read,
  run,
  failureOf({ code }, { file }) {
    return code === undefined ? undefined : [2, `FILE: cannot read ${file}: ${code}`]
  },
}

function read({ flags, operands }: CommandLine): EventsArguments | string {
  const [action, file = defaultFile, ...more] = operands
  if (action === undefined) return 'expected check, got none'
  if (action !== 'check') return unknownName('action', action, ['check'])
  if (more.length > 0) return `FILE: expected one file, got ${more.length + 1}: ${[file, ...more].join(', ')}`
  return { file, json: flags.has('json') }
}

async function run({ file }: EventsArguments, output: Output): Promise<Status> {
  const { events, faults } = checkCatalogue(await readFile(file, 'utf8'))
  return output.summary({
    ok: faults.length === 0,
    facts: { file, events, faults },
    lines: [
      ...faults.map(({ line, message }) => `${file}${line === null ? '' : `:${line}`}: ${message}`),
      `${counted(events, 'event')}, ${faults.length === 0 ? 'no faults' : counted(faults.length, 'fault')}`,
    ],
  })
}
