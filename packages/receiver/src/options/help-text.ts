import { type CommandRow, commandTable } from './command-table.js'
import { type OptionName, type OptionRow, optionNames, optionTable, variableOf, writtenName } from './option-table.js'
import { flag } from './option-value.js'

const width = 17
const indent = ' '.repeat(width)
const table: Readonly<Record<string, CommandRow>> = commandTable

/** The text of `--help`, made from the tables of commands and options. */
export const helpText = `Usage: sluice-receiver [options]
       sluice-receiver COMMAND [options]

Receives logs and value events over the Content, Logging and Value-Tracking HTTP API and keeps them
in SQLite or PostgreSQL. Without a command it starts, and runs until Ctrl-C.

Commands; sluice-receiver COMMAND --help prints the help of one:

${Object.entries(table)
  .map(([name, { about }]) => `  ${name.padEnd(width)}${about}`)
  .join('\n')}
  ${'logs'.padEnd(width)}prints the log records of a receiver, here or elsewhere
  ${'values'.padEnd(width)}counts the value records of a receiver, here or elsewhere

Options, each with the variable that sets it. An option of the command line wins; --no-json and its like turn off what a variable turns on.

${optionNames.map((name) => linesOf(name)).join('\n')}
  --version      print the version
  --help         print this

Exit status: 0 it was ended by SIGTERM or SIGINT; 1 something failed; 2 the command line or a variable is wrong.

Example: sluice-receiver --port 0 --data :memory: --json
`

/** The text of `--help` behind a command, such as `keys add`, or behind the first word of several. */
export function helpOf(command: string): string {
  const rows = Object.entries(table).filter(([name]) => name === command || name.startsWith(`${command} `))
  const usages = rows.flatMap(([name, { usage }]) => `sluice-receiver ${name} [options] ${usage}`.trimEnd())
  const abouts = rows.map(([name, { about, more = '' }]) => wrapped(`${name} ${about}. ${more}`))
  const examples = rows.flatMap(([, row]) => row.examples.map((example) => `  sluice-receiver ${example}`))
  const lines = new Set(rows.flatMap(([, row]) => optionLines(row)))
  return `Usage: ${usages.join('\n       ')}

${abouts.join('\n')}

${[...lines].join('\n')}
  --help
${indent}print this

${wrapped(`Exit status: ${rows[0]?.[1].status ?? '0 done; 1 something failed; 2 the command line or a variable is wrong.'}`)}

${examples.length === 1 ? 'Example' : 'Examples'}:
${examples.join('\n')}
`
}

/** The names of the options that a command has, as they are written; those of the receiver itself for a text that is no command. */
export function optionsOf(command: string): string[] {
  const rows = Object.entries(table).filter(([name]) => name === command || name.startsWith(`${command} `))
  if (rows.length === 0) return [...optionNames.map(writtenName), 'version', 'help']
  return [...rows.flatMap(([, { options, own = {} }]) => [...options.map(writtenName), ...Object.keys(own)]), 'help']
}

/** In lines of at most 100 characters. */
function wrapped(text: string): string {
  return text.trimEnd().replace(/(?=.{101}).{1,100}(?= ) /g, (line) => `${line.trimEnd()}\n`)
}

function optionLines({ options, own = {} }: CommandRow): string[] {
  const ofCommand = Object.entries(own).map(([name, { placeholder, about, written = `--${name}` }]) => {
    return `  ${written}${placeholder === undefined ? '' : ` ${placeholder}`}\n${indent}${about}`
  })
  const jsonAbout = 'print JSON; a failure is an object with "ok":false'
  return [...ofCommand, ...options.map((name) => linesOf(name, name === 'json' ? jsonAbout : undefined))]
}

function linesOf(name: OptionName, otherAbout?: string): string {
  const row: OptionRow = optionTable[name]
  const { placeholder, about = '', default: fallback } = row
  const written = `--${writtenName(name)}${placeholder === undefined ? '' : ` ${placeholder}`}`
  const ending = fallback === undefined || row.kind === flag ? '' : ` (default ${fallback})`
  return `  ${written}, ${variableOf(name)}\n${indent}${(otherAbout ?? about).replaceAll('`', '')}${ending}`
}
