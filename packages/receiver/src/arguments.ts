import { type ParseArgsConfig, parseArgs } from 'node:util'
import type { KeysCommand, StorePlace } from './keys/keys-command.js'
import { defaultScopes, isScope, type Scope, scopes } from './keys/scopes.js'
import { nearestName } from './options/nearest-name.js'
import { type OptionName, type Options, optionNames, optionTable, writtenName } from './options/option-table.js'
import { type Environment, OptionError, readOptions, readSome } from './options/read-options.js'
import { maxNameCharacters, namePattern } from './schemas/keys.js'

export type Command =
  | { readonly type: 'start'; readonly options: Options }
  | { readonly type: 'keys'; readonly command: KeysCommand }
  | { readonly type: 'page'; readonly place: StorePlace; readonly json: boolean }
  | { readonly type: 'backup'; readonly data: string; readonly file: string; readonly json: boolean }
  | { readonly type: 'reading'; readonly name: ReadingName; readonly written: readonly string[] }
  | { readonly type: 'help' | 'version' }
  | { readonly type: 'wrong'; readonly message: string }

/** Commands that read from a receiver that runs, here or elsewhere, by its API. */
const readingNames = ['logs', 'values'] as const
export type ReadingName = (typeof readingNames)[number]

type Parsed = NonNullable<ParseArgsConfig['options']>

/** The command that the arguments and the variables of the process stand for. */
export function readArguments(args: readonly string[], environment: Environment): Command {
  try {
    const [first, ...rest] = args
    const name = readingNames.find((each) => each === first)
    if (name !== undefined) return { type: 'reading', name, written: rest }
    if (first === 'keys') return readKeys(rest, environment)
    if (first === 'page') return readPage(rest, environment)
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

const commands = ['keys', 'page', 'backup', ...readingNames]
const options = [...optionNames.map(writtenName), 'version', 'help', 'scope', 'name']

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
  const own: Parsed = action === 'add' ? { scope: { type: 'string' }, name: { type: 'string' } } : {}
  const { help, data, database, json, written, positionals } = readOnStore(args, { environment, own })
  if (help) return { type: 'help' }
  const { scope, name = '' } = written
  const store = { data, database, json }
  if (action !== 'revoke' && positionals.length > 0) throw new OptionError(`keys: unexpected "${positionals[0]}"`)
  switch (action) {
    case 'add':
      return { type: 'keys', command: { action, ...store, name: checkedName(name), scopes: scopesIn(scope) } }
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
  return { type: 'page', place: { data, database }, json }
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
  const written = values as Readonly<Record<string, string | undefined>>
  const help = values.help === true
  return { help, written, positionals, ...readSome(['data', 'database', 'json'], { written, environment }) }
}

function checkedName(name: string): string {
  if (name.length <= maxNameCharacters && new RegExp(namePattern).test(name)) return name
  throw new OptionError(`--name: expected at most ${maxNameCharacters} characters in one line`)
}

function scopesIn(text: string | undefined): readonly Scope[] {
  if (text === undefined) return defaultScopes
  const named = text.split(',').map((word) => word.trim())
  if (named.every(isScope)) return named
  throw new OptionError(`--scope: expected some of ${scopes.join(', ')} with commas between them, got "${text}"`)
}

function parsed(names: readonly OptionName[]) {
  const options = names.map((name) => {
    const { type } = optionTable[name].kind
    return [writtenName(name), { type: type === 'flag' ? 'boolean' : 'string', multiple: type === 'database' }] as const
  })
  return { ...(Object.fromEntries(options) as Parsed), help: { type: 'boolean', short: 'h' } } as const
}
