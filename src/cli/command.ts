import { parseArgs } from 'node:util'
import { ConfigError } from '../errors/sluice-error.js'
import { nearestName } from '../options/nearest-name.js'
import { Output, printOwn, type Status } from './output.js'

/** The options of a command. */
type OptionSpecs = Readonly<Record<string, { readonly type: 'string' | 'boolean'; readonly short?: string }>>

/** A command line in its parts. */
export interface CommandLine {
  /** Options with a value. */
  readonly texts: Readonly<Record<string, string>>
  /** Options without a value. */
  readonly flags: ReadonlySet<string>
  readonly operands: readonly string[]
}

/** A command of the program. */
export interface Command<Arguments extends { readonly json: boolean }> {
  /** The words that call it, such as `sluice replay`. */
  readonly name: string
  readonly help: string
  /** All options but `--json` and `--help`. */
  readonly options: OptionSpecs
  /** Returns the arguments of a run, or a message for a wrong command line. */
  readonly read: (line: CommandLine) => Arguments | string
  readonly run: (given: Arguments, output: Output) => Promise<Status>
  /** The status and the message for an expected error of `run`. Undefined for a bug. */
  readonly failureOf?: (error: NodeJS.ErrnoException, given: Arguments) => readonly [Status, string] | undefined
}

/** Make a function that takes the command line of a command and resolves with its exit status. */
export function asProgram<Arguments extends { readonly json: boolean }>(
  command: Command<Arguments>,
): (written: readonly string[]) => Promise<Status> {
  const { name, help, options } = command
  return async (written) => {
    const wrong = (message: string) =>
      new Output(name, { json: written.includes('--json') }).fail(2, withHelp(message, name))
    const line = readCommandLine(written, { ...options, json: { type: 'boolean' }, help: helpOption })
    if (typeof line === 'string') return wrong(line)
    if (line.flags.has('help')) {
      printOwn(help)
      return 0
    }
    const given = command.read(line)
    if (typeof given === 'string') return wrong(given)
    const output = new Output(name, given)
    try {
      return await command.run(given, output)
    } catch (error) {
      if (error instanceof ConfigError) return output.fail(2, error.message)
      const failure = command.failureOf?.(error as NodeJS.ErrnoException, given)
      if (failure === undefined) throw error
      return output.fail(...failure)
    } finally {
      output.endProgress()
    }
  }
}

export const helpOption = { type: 'boolean', short: 'h' } as const

/** Take a command line apart. Returns a message when an option is unknown, incomplete or given twice. */
export function readCommandLine(written: readonly string[], specs: OptionSpecs): CommandLine | string {
  const { tokens } = parseArgs({
    args: [...written],
    options: { ...specs },
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const texts: Record<string, string> = {}
  const flags = new Set<string>()
  const operands: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') operands.push(token.value)
    if (token.kind !== 'option') continue
    const { name, rawName, value, inlineValue } = token
    const spec = Object.hasOwn(specs, name) ? specs[name] : undefined
    if (spec === undefined) return unknownName('option', rawName, Object.keys(specs), '--')
    if (Object.hasOwn(texts, name)) return `--${name}: expected once, got it twice`
    if (spec.type === 'boolean') {
      if (value !== undefined) return `--${name}: expected no value, got "${value}"`
      flags.add(name)
    } else if (value === undefined || value === '' || (!inlineValue && value.startsWith('-'))) {
      return `--${name}: expected a value, got ${value === undefined ? 'none' : `"${value}"`}`
    } else texts[name] = value
  }
  return { texts, flags, operands }
}

/** The message with where to read more, unless it says what was meant. */
export function withHelp(message: string, program: string): string {
  return message.endsWith('?') ? message : `${message}; see ${program} --help`
}

/** How each program is called, with its commands. */
const programs: readonly (readonly [call: string, commands: readonly string[]])[] = [
  ['npx sluice', ['doctor', 'replay']],
  ['npx sluice-tools', ['ship', 'track', 'migrate']],
  ['npx sluice-receiver', ['run', 'page', 'logs', 'values', 'mcp', 'keys', 'projects', 'backup']],
]

/** A message for a command that a program does not have. Another one may have it. */
export function unknownCommand(name: string, { own, known }: { own: string; known: readonly string[] }): string {
  const [call] = programs.find(([, commands]) => commands.includes(name)) ?? []
  if (call === undefined || call === `npx ${own}`) return withHelp(unknownName('command', name, known), own)
  return `${name} is in ${call.slice('npx '.length)}: ${call} ${name}`
}

/** A message for an unknown name, with the known name that looks most like it. */
export function unknownName(kind: string, name: string, known: readonly string[], prefix = ''): string {
  const nearest = nearestName(name.replace(/^-+/, ''), known)
  return `unknown ${kind} ${name}${nearest === undefined ? '' : `; did you mean ${prefix}${nearest}?`}`
}
