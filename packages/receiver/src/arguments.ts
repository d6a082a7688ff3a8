import { type ParseArgsConfig, parseArgs } from 'node:util'
import type { KeysCommand } from './commands/keys-command.js'
import type { ProjectsCommand } from './commands/projects-command.js'
import type { StoreCommand } from './commands/store-command.js'
import { defaultScopes, isScope, type Scope, scopes } from './keys/scopes.js'
import { nearestName } from './options/nearest-name.js'
import { type OptionName, type Options, optionNames, optionTable, writtenName } from './options/option-table.js'
import { type Environment, OptionError, readOptions, readSome } from './options/read-options.js'
import { maxKeyProjects, maxNameCharacters, namePattern } from './schemas/keys.js'
import { nameSchema } from './schemas/names.js'

export type Command =
  | { readonly type: 'start'; readonly options: Options }
  | { readonly type: 'keys'; readonly command: KeysCommand }
  | { readonly type: 'page'; readonly command: StoreCommand }
  | { readonly type: 'projects'; readonly command: ProjectsCommand }
  | { readonly type: 'backup'; readonly data: string; readonly file: string; readonly json: boolean }
  | { readonly type: 'reading'; readonly name: ReadingName; readonly written: readonly string[] }
  | { readonly type: 'help' | 'version' }
  | { readonly type: 'wrong'; readonly message: string }

/** Commands that read from a receiver that runs, here or elsewhere, by its API. */
const readingNames = ['logs', 'values'] as const
export type ReadingName = (typeof readingNames)[number]

type Parsed = NonNullable<ParseArgsConfig['options']>
type Written = Readonly<Record<string, string | undefined>>
/** An option with words, once with commas between them or several times. */
const texts = { type: 'string', multiple: true } as const

/** The command that the arguments and the variables of the process stand for. */
export function readArguments(args: readonly string[], environment: Environment): Command {
  try {
    const [first, ...rest] = args
    const name = readingNames.find((each) => each === first)
    if (name !== undefined) return { type: 'reading', name, written: rest }
    if (first === 'keys') return readKeys(rest, environment)
    if (first === 'page') return readPage(rest, environment)
    if (first === 'projects') return readProjects(rest, environment)
    return first === 'backup' ? readBackup(rest, environment) : readStart(args, environment)
  } catch (error) {
    const { message } = error as Error
    if (error instanceof OptionError) return { type: 'wrong', message }
    const suggested = suggestion(message)
    if (suggested !== undefined) return { type: 'wrong', message: suggested }
    const [reason] = message.split(/\.[ \n]|\n/)
    return { type: 'wrong', message: `${reason?.replace(/\.$/, '')}; see sluice-receiver --help` }
  }
}

const commands = ['keys', 'page', 'projects', 'backup', ...readingNames]
const options = [...optionNames.map(writtenName), 'version', 'help', 'scope', 'project', 'name', 'content']

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

function readKeys([action = '', ...args]: readonly string[], environment: Environment): Command {
  if (action === '--help' || action === '-h') return { type: 'help' }
  const own: Parsed = action === 'add' ? { scope: texts, project: texts, name: { type: 'string' } } : {}
  const { help, data, database, json, written, positionals } = readOnStore(args, { environment, own })
  if (help) return { type: 'help' }
  const { scope, project, name = '' } = written as Written & Partial<Record<'scope' | 'project', string[]>>
  const store = { data, database, json }
  if (action !== 'revoke' && positionals.length > 0) throw new OptionError(`keys: unexpected "${positionals[0]}"`)
  switch (action) {
    case 'add':
      return {
        type: 'keys',
        command: { action, ...store, name: checkedName(name), scopes: scopesIn(scope), projects: projectsIn(project) },
      }
    case 'list':
      return { type: 'keys', command: { action, ...store } }
    case 'revoke': {
      const [id, ...others] = positionals
      if (id === undefined || others.length > 0) throw new OptionError('keys revoke: expected one id; see keys list')
      return { type: 'keys', command: { action, ...store, id } }
    }
    default:
      throw new OptionError(`keys: expected add, list or revoke, got "${action}"`)
  }
}

function readPage(args: readonly string[], environment: Environment): Command {
  const { help, data, database, json, positionals } = readOnStore(args, { environment, own: {} })
  if (help) return { type: 'help' }
  if (positionals.length > 0) throw new OptionError(`page: unexpected "${positionals[0]}"`)
  return { type: 'page', command: { data, database, json } }
}

function readProjects([action = '', ...args]: readonly string[], environment: Environment): Command {
  if (action === '--help' || action === '-h') return { type: 'help' }
  const own: Parsed = action === 'plan' ? { content: { type: 'boolean' } } : {}
  const { help, data, database, json, written, positionals } = readOnStore(args, { environment, own })
  if (help) return { type: 'help' }
  const store = { data, database, json }
  const [id, ...others] = positionals
  switch (action) {
    case 'list':
      if (id !== undefined) throw new OptionError(`projects: unexpected "${id}"`)
      return { type: 'projects', command: { action, ...store } }
    case 'add':
      if (id === undefined || others.length > 0) throw new OptionError('projects add: expected one id')
      return { type: 'projects', command: { action, ...store, id: projectId(id) } }
    case 'plan': {
      const { content } = written as { readonly content?: boolean }
      if (id === undefined || others.length > 0 || content === undefined)
        throw new OptionError('projects plan: expected one id, and --content or --no-content')
      return { type: 'projects', command: { action, ...store, id, plan: { content } } }
    }
    default:
      throw new OptionError(`projects: expected add, list or plan, got "${action}"`)
  }
}

function readBackup(args: readonly string[], environment: Environment): Command {
  const { help, data, database, json, positionals } = readOnStore(args, { environment, own: {} })
  if (help) return { type: 'help' }
  if (database !== undefined)
    throw new OptionError('backup: copies a folder. Copy a database with its own tools, such as pg_dump')
  const [file, ...others] = positionals
  if (file === undefined || file === '' || others.length > 0)
    throw new OptionError('backup: expected the name of one new file')
  return { type: 'backup', data, json, file }
}

/** Arguments of a command that works on a store, with options of its own. */
function readOnStore(
  args: readonly string[],
  { environment, own }: { readonly environment: Environment; readonly own: Parsed },
) {
  const options = { ...parsed(['data', 'database', 'json']), ...own }
  const { values, positionals } = parseArgs({ args: [...args], allowNegative: true, allowPositionals: true, options })
  const written = values as Written
  const help = values.help === true
  return { help, written, positionals, ...readSome(['data', 'database', 'json'], { written, environment }) }
}

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

function projectId(text: string): string {
  if (isProjectId(text)) return text
  throw new OptionError(`projects add: expected ${nameSchema.description}, got "${text}"`)
}

function isProjectId(text: string): boolean {
  return new RegExp(nameSchema.pattern!).test(text)
}

function wordsOf(written: readonly string[]): string[] {
  return written.flatMap((text) => text.split(',').map((word) => word.trim()))
}

function parsed(names: readonly OptionName[]) {
  const options = names.map((name) => {
    const { type } = optionTable[name].kind
    return [writtenName(name), { type: type === 'flag' ? 'boolean' : 'string', multiple: type === 'database' }] as const
  })
  return { ...(Object.fromEntries(options) as Parsed), help: { type: 'boolean', short: 'h' } } as const
}
