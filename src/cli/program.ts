import { packageVersion } from '../runtime/version.js'
import { helpOption, readCommandLine, unknownCommand, withHelp } from './command.js'
import { printOwn, sayLine } from './output.js'

/** A program with commands. */
export interface Program {
  readonly name: string
  /** The text of `--help`. */
  readonly help: string
  /** Each takes its command line and resolves with the exit status. */
  readonly commands: Readonly<Record<string, (written: readonly string[]) => Promise<number>>>
  /** Commands that the program had, with the sentence that says where they are. */
  readonly gone?: Readonly<Record<string, string>>
}

/** Runs a program. Resolves with its exit status. */
export async function runProgram(program: Program, written: readonly string[]): Promise<number> {
  // A reader that closes its end of the pipe has read enough. The work goes on.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  const { name: own, help, commands, gone = {} } = program
  const fail = (message: string) => {
    sayLine(`${own}: ${message}`)
    return 2
  }
  const wrong = (message: string) => fail(withHelp(message, own))
  const [name, ...rest] = written
  if (name !== undefined && !name.startsWith('-')) {
    const command = Object.hasOwn(commands, name) ? commands[name] : undefined
    if (command !== undefined) return await command(rest)
    const where = Object.hasOwn(gone, name) ? gone[name] : undefined
    return fail(where ?? unknownCommand(name, { own, known: Object.keys(commands) }))
  }
  const line = readCommandLine(written, { help: helpOption, version: { type: 'boolean' } })
  if (typeof line === 'string') return wrong(line)
  if (line.flags.has('version')) printOwn(`${packageVersion}\n`)
  else if (line.flags.has('help')) printOwn(help)
  else return wrong('expected a command')
  return 0
}
