import { type ParseArgsConfig, parseArgs } from 'node:util'
import { nearestName } from '../../../src/options/nearest-name.js'
import type { RunCommand } from './commands/run-command.js'
import type { StoreCommand } from './commands/store-command.js'
import { defaultScopes, isScope, type Scope, scopes } from './keys/scopes.js'
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
  | { readonly type: 'store'; readonly run: () => Promise<string> }
  | { readonly type: 'run'; readonly command: RunCommand }
  | { readonly type: 'reading'; readonly name: ReadingName; readonly written: readonly string[] }
  | { readonly type: 'help' | 'version' }
  | { readonly type: 'wrong'; readonly message: string }

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
  /** Options of its own. */
  readonly options?: Parsed
  /** What its one operand must be; undefined if it has none. */
  readonly operand?: string
  /** @throws {OptionError} for a value that it cannot have */
  readonly read: (given: Given) => () => Promise<string>
}

/** An option with words, once with commas between them or several times. */
const texts = { type: 'string', multiple: true } as const
const onKeys = () => import('./commands/keys-command.js')
const onProjects = () => import('./commands/projects-command.js')
const idAndPlan = 'one id, and --content or --no-content'

const verbs: Readonly<Record<string, Verb>> = {
  'keys add': {
    options: { scope: texts, project: texts, name: { type: 'string' } },
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
    options: { content: { type: 'boolean' } },
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
    return commands.includes(first)
      ? readStoreCommand(first, { args: rest, environment })
      : readStart(args, environment)
  } catch (error) {
    const { message } = error as Error
    if (error instanceof OptionError) return { type: 'wrong', message }
    const suggested = suggestion(message)
    if (suggested !== undefined) return { type: 'wrong', message: suggested }
    const [reason] = message.split(/\.[ \n]|\n/)
    return { type: 'wrong', message: `${reason?.replace(/\.$/, '')}; see sluice-receiver --help` }
  }
}

const commands = [...new Set(Object.keys(verbs).map((verb) => verb.split(' ')[0]!)), ...readingNames, 'run']
const options = [
  ...optionNames.map(writtenName),
  'version',
  'help',
  ...Object.values(verbs).flatMap((verb) => Object.keys(verb.options ?? {})),
]

/** A message that suggests the word that looks most like the unknown one. Undefined where none does. */
function suggestion(message: string): string | undefined {
  const [, option] = /^Unknown option '--(?:no-)?([^']+)'/.exec(message) ?? []
  const [, word = ''] = /^Unexpected argument '([^']+)'/.exec(message) ?? []
  const nearest = option === undefined ? nearestName(word, commands) : nearestName(option, options)
  if (nearest === undefined || nearest === option || nearest === word) return undefined
  return option === undefined
    ? `there is no command ${word}; did you mean ${nearest}?`
    : `there is no option --${option}; did you mean --${nearest}?`
}

function readStart(args: readonly string[], environment: Environment): Command {
  const options = { ...parsed(optionNames), version: { type: 'boolean' } } as const
  const { values } = parseArgs({ args: [...args], allowNegative: true, options })
  if (values.help === true) return { type: 'help' }
  if (values.version === true) return { type: 'version' }
  return { type: 'start', options: readOptions(values, environment) }
}

const runOptions = ['port', 'host', 'data', 'database', 'events', 'retain'] as const

/** What stands behind `--` is the program, whatever options it has. */
function readRun(args: readonly string[], environment: Environment): Command {
  const end = args.indexOf('--')
  const own = end === -1 ? args : args.slice(0, end)
  const program = end === -1 ? [] : args.slice(end + 1)
  const options = { ...parsed(runOptions), quiet: { type: 'boolean' } } as const
  const { values } = parseArgs({ args: [...own], allowNegative: true, allowPositionals: end === -1, options })
  if (values.help === true) return { type: 'help' }
  if (program.length === 0) throw new OptionError('run: expected a program behind --, such as run -- node app.js')
  const read = readSome(runOptions, { written: values, environment })
  const isPortSet = values.port !== undefined || environment[variableOf('port')] !== undefined
  const port = isPortSet ? read.port : undefined
  return { type: 'run', command: { ...read, port, quiet: values.quiet === true, program } }
}

function readStoreCommand(
  name: string,
  { args, environment }: { readonly args: readonly string[]; readonly environment: Environment },
): Command {
  const [action = '', ...others] = args
  const title = verbs[name] === undefined ? `${name} ${action}` : name
  const verb = verbs[title]
  if (verb === undefined) {
    if (action === '--help' || action === '-h') return { type: 'help' }
    const actions = Object.keys(verbs).flatMap((each) => (each.startsWith(`${name} `) ? [each.split(' ')[1]!] : []))
    throw new OptionError(
      `${name}: expected ${listFormat.format(actions)}, got ${action === '' ? 'nothing' : `"${action}"`}`,
    )
  }
  const options = { ...parsed(['data', 'database', 'json']), ...verb.options }
  const left = [...(title === name ? args : others)]
  const { values, positionals } = parseArgs({ args: left, allowNegative: true, allowPositionals: true, options })
  if (values.help === true) return { type: 'help' }
  const written = values as Readonly<Record<string, string>>
  const store = readSome(['data', 'database', 'json'], { written, environment })
  const [operand = '', ...excess] = positionals
  if (verb.operand === undefined && positionals.length > 0) throw new OptionError(`${title}: unexpected "${operand}"`)
  if (verb.operand !== undefined && (operand === '' || excess.length > 0)) {
    throw new OptionError(`${title}: expected ${verb.operand}`)
  }
  return { type: 'store', run: verb.read({ ...written, ...store, operand }) }
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
