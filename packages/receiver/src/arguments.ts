import { type ParseArgsConfig, parseArgs } from 'node:util'
import { unknownCommand, unknownName, withHelp } from '../../../src/cli/command.js'
import { nearestName } from '../../../src/options/nearest-name.js'
import type { Place } from './commands/place.js'
import type { RunCommand } from './commands/run-command.js'
import type { StoreCommand } from './commands/store-command.js'
import { defaultScopes, isScope, type Scope, scopes } from './keys/scopes.js'
import { type CommandRow, commandTable, mcpOptions, runOptions, storeOptions } from './options/command-table.js'
import { helpOf, helpText, optionsOf } from './options/help-text.js'
import {
  type OptionName,
  type OptionRow,
  type Options,
  optionNames,
  optionTable,
  variableOf,
  writtenName,
} from './options/option-table.js'
import { databaseUrl, flag } from './options/option-value.js'
import { type Environment, OptionError, readOptions, readSome } from './options/read-options.js'
import { maxKeyProjects, maxNameCharacters, namePattern } from './schemas/keys.js'
import { nameSchema } from './schemas/names.js'

export type Command =
  | { readonly type: 'start'; readonly options: Options }
  /** Works on a store. Resolves with the text for stdout. */
  | { readonly type: 'store'; readonly json: boolean; readonly run: () => Promise<string> }
  | { readonly type: 'run'; readonly command: RunCommand }
  | { readonly type: 'mcp'; readonly command: Place }
  | { readonly type: 'reading'; readonly name: ReadingName; readonly written: readonly string[] }
  | { readonly type: 'help'; readonly text: string }
  | { readonly type: 'version' }
  /** With `json` a script expects an object. */
  | { readonly type: 'wrong'; readonly message: string; readonly json?: true }

/** Commands that read from a receiver that runs, here or elsewhere, by its API. */
const readingNames = ['logs', 'values'] as const
export type ReadingName = (typeof readingNames)[number]

type Parsed = NonNullable<ParseArgsConfig['options']>

/** What was written for a command that works on a store. */
interface Given extends StoreCommand {
  /** Empty where the command has none. */
  readonly operand: string
  readonly scope?: readonly string[]
  readonly project?: readonly string[]
  readonly name?: string
  readonly content?: boolean
}

/** A command that works on a store. Its module, with the databases, is loaded when it runs. */
interface Verb {
  /** What its one operand must be; undefined if it has none. */
  readonly operand?: string
  /** @throws {OptionError} for a value that it cannot have */
  readonly read: (given: Given) => () => Promise<string>
}

const onKeys = () => import('./commands/keys-command.js')
const onProjects = () => import('./commands/projects-command.js')
const idAndPlan = 'one id, and --content or --no-content'

const verbs: Readonly<Record<string, Verb>> = {
  'keys add': {
    read(given) {
      const { scope, project, name = '' } = given
      const wanted = { name: checkedName(name), scopes: scopesIn(scope), projects: projectsIn(project) }
      return async () => (await onKeys()).addKey(given, wanted)
    },
  },
  'keys list': { read: (given) => async () => (await onKeys()).listKeys(given) },
  'keys revoke': {
    operand: 'one id; see keys list',
    read: (given) => async () => (await onKeys()).revokeKey(given, given.operand),
  },
  page: { read: (given) => async () => (await import('./commands/page-command.js')).makePageAddress(given) },
  'projects add': {
    operand: 'one id',
    read(given) {
      const { operand: id } = given
      if (!isProjectId(id)) throw new OptionError(`projects add: expected ${nameSchema.description}, got "${id}"`)
      return async () => (await onProjects()).addProject(given, id)
    },
  },
  'projects list': { read: (given) => async () => (await onProjects()).listProjects(given) },
  'projects plan': {
    operand: idAndPlan,
    read(given) {
      const { operand: id, content } = given
      if (content === undefined) throw new OptionError(`projects plan: expected ${idAndPlan}`)
      return async () => (await onProjects()).changePlan(given, { id, plan: { content } })
    },
  },
  backup: {
    operand: 'the name of one new file',
    read(given) {
      if (given.database !== undefined) {
        throw new OptionError('backup: copies a folder. Copy a database with its own tools, such as pg_dump')
      }
      return async () => (await import('./commands/backup-command.js')).makeBackup(given, given.operand)
    },
  },
}

/** The command that the arguments and the variables of the process stand for. */
export function readArguments(args: readonly string[], environment: Environment): Command {
  try {
    const [first = '', ...rest] = args
    const name = readingNames.find((each) => each === first)
    if (name !== undefined) return { type: 'reading', name, written: rest }
    if (first === 'run') return readRun(rest, environment)
    if (first === 'mcp') return readMcp(rest, environment)
    return commands.includes(first)
      ? readStoreCommand(first, { args: rest, environment })
      : readStart(args, environment)
  } catch (error) {
    const { message } = error as Error
    const command = commandIn(args)
    const json = command !== '' && optionsOf(command).includes('json') && args.includes('--json')
    return {
      type: 'wrong',
      message: error instanceof OptionError ? message : wordsFor(message, command),
      ...(json ? { json } : {}),
    }
  }
}

/** The longest title of a command that the arguments begin with; empty where they begin with none. */
function commandIn([first = '', second = '']: readonly string[]): string {
  if (`${first} ${second}` in commandTable) return `${first} ${second}`
  return commands.includes(first) ? first : ''
}

const commands = [...new Set(Object.keys(verbs).map((verb) => verb.split(' ')[0]!)), ...readingNames, 'run', 'mcp']
const own = 'sluice-receiver'

/** Our words for what Node's parser says. */
function wordsFor(message: string, command: string): string {
  const program = `${own} ${command}`.trimEnd()
  const [, option] = /^Unknown option '(--?[^']+)'/.exec(message) ?? []
  if (option !== undefined) return withHelp(unknownName('option', option, optionsOf(command), '--'), program)
  const [, word] = /^Unexpected argument '([^']+)'/.exec(message) ?? []
  if (word !== undefined && command !== '') return withHelp(`${command}: unexpected "${word}"`, program)
  if (word !== undefined && commands.includes(word)) return `${word}: expected before the options: ${own} ${word} …`
  if (word !== undefined) return unknownCommand(word, { own, known: commands })
  const [, valueless] =
    /^Option '(?:-\w, )?(--[\w-]+)(?: <value>)?' argument (?:missing|is ambiguous)/.exec(message) ?? []
  if (valueless !== undefined) return withHelp(`${valueless}: expected a value, got none`, program)
  const [reason] = message.split(/\.[ \n]|\n/)
  return withHelp(`${reason?.replace(/\.$/, '')}`, program)
}

function readStart(args: readonly string[], environment: Environment): Command {
  const options = { ...parsed(optionNames), version: { type: 'boolean' } } as const
  const { values } = parseArgs({ args: [...args], allowNegative: true, options })
  if (values.help === true) return { type: 'help', text: helpText }
  if (values.version === true) return { type: 'version' }
  return { type: 'start', options: readOptions(values, environment) }
}

/** What stands behind `--` is the program, whatever options it has. */
function readRun(args: readonly string[], environment: Environment): Command {
  const end = args.indexOf('--')
  const before = end === -1 ? args : args.slice(0, end)
  const program = end === -1 ? [] : args.slice(end + 1)
  const options = { ...parsed(runOptions), ...commandTable.run.own } as const
  const { values } = parseArgs({ args: [...before], allowNegative: true, allowPositionals: end === -1, options })
  if (values.help === true) return { type: 'help', text: helpOf('run') }
  if (program.length === 0) throw new OptionError('run: expected a program behind --, such as run -- node app.js')
  const read = readSome(runOptions, { written: values, environment })
  const isPortSet = (values as { port?: string }).port !== undefined || environment[variableOf('port')] !== undefined
  const port = isPortSet ? read.port : undefined
  return { type: 'run', command: { ...read, port, quiet: values.quiet === true, stay: values.stay === true, program } }
}

function readMcp(args: readonly string[], environment: Environment): Command {
  const { values } = parseArgs({ args: [...args], allowNegative: true, options: parsed(mcpOptions) })
  if (values.help === true) return { type: 'help', text: helpOf('mcp') }
  return { type: 'mcp', command: readSome(mcpOptions, { written: values, environment }) }
}

function readStoreCommand(
  name: string,
  { args, environment }: { readonly args: readonly string[]; readonly environment: Environment },
): Command {
  const [action = '', ...others] = args
  const title = verbs[name] === undefined ? `${name} ${action}` : name
  const verb = verbs[title]
  if (verb === undefined) {
    if (action === '--help' || action === '-h') return { type: 'help', text: helpOf(name) }
    const actions = Object.keys(verbs).flatMap((each) => (each.startsWith(`${name} `) ? [each.split(' ')[1]!] : []))
    const got = action === '' ? 'nothing' : `"${action}"`
    const nearest = nearestName(action, actions)
    const hint = nearest === undefined ? '' : `; did you mean ${name} ${nearest}?`
    const message = `${name}: expected ${listFormat.format(actions)}, got ${got}${hint}`
    throw new OptionError(withHelp(message, `${own} ${name}`))
  }
  const { own: ofCommand = {} }: CommandRow = commandTable[title as keyof typeof commandTable]
  const options = { ...parsed(storeOptions), ...ofCommand }
  const left = [...(title === name ? args : others)]
  const { values, positionals } = parseArgs({ args: left, allowNegative: true, allowPositionals: true, options })
  if (values.help === true) return { type: 'help', text: helpOf(title) }
  const written = values as Readonly<Record<string, string>>
  const store = readSome(storeOptions, { written, environment })
  const [operand = '', ...excess] = positionals
  if (verb.operand === undefined && positionals.length > 0) {
    throw new OptionError(withHelp(`${title}: unexpected "${operand}"`, `${own} ${title}`))
  }
  if (verb.operand !== undefined && (operand === '' || excess.length > 0)) {
    throw new OptionError(`${title}: expected ${verb.operand}`)
  }
  return { type: 'store', json: store.json, run: verb.read({ ...written, ...store, operand }) }
}

const listFormat = new Intl.ListFormat('en-GB', { type: 'disjunction' })

function checkedName(name: string): string {
  if (name.length <= maxNameCharacters && new RegExp(namePattern).test(name)) return name
  throw new OptionError(`--name: expected at most ${maxNameCharacters} characters in one line`)
}

function scopesIn(written: readonly string[] | undefined): readonly Scope[] {
  if (written === undefined) return defaultScopes
  const named = wordsOf(written)
  if (named.every(isScope)) return named
  throw new OptionError(`--scope: expected some of ${scopes.join(', ')} with commas between them, got "${written}"`)
}

/** Null stands for all projects. */
function projectsIn(written: readonly string[] | undefined): readonly string[] | null {
  if (written === undefined) return null
  const named = wordsOf(written)
  if (named.length <= maxKeyProjects && named.every(isProjectId)) return named
  throw new OptionError(`--project: expected ids of projects with commas between them, at most 100, got "${written}"`)
}

function isProjectId(text: string): boolean {
  return new RegExp(nameSchema.pattern!).test(text)
}

function wordsOf(written: readonly string[]): string[] {
  return written.flatMap((text) => text.split(',').map((word) => word.trim()))
}

function parsed(names: readonly OptionName[]) {
  const options = names.map((name) => {
    const { kind }: OptionRow = optionTable[name]
    return [writtenName(name), { type: kind === flag ? 'boolean' : 'string', multiple: kind === databaseUrl }] as const
  })
  return { ...(Object.fromEntries(options) as Parsed), help: { type: 'boolean', short: 'h' } } as const
}
