import { parseArgs } from 'node:util'
import { type Options, optionNames, optionTable, writtenName } from './options/option-table.js'
import { type Environment, OptionError, readOptions } from './options/read-options.js'

export type Command =
  | { readonly type: 'start'; readonly options: Options }
  | { readonly type: 'help' | 'version' }
  | { readonly type: 'wrong'; readonly message: string }

const written = Object.fromEntries(
  optionNames.map((name) => [
    writtenName(name),
    { type: optionTable[name].kind.type === 'flag' ? ('boolean' as const) : ('string' as const) },
  ]),
)

/** The command that the arguments and the variables of the process stand for. */
export function readArguments(args: readonly string[], environment: Environment): Command {
  try {
    const { values } = parseArgs({
      args: [...args],
      allowNegative: true,
      options: { ...written, help: { type: 'boolean', short: 'h' }, version: { type: 'boolean' } },
    })
    if (values.help === true) return { type: 'help' }
    if (values.version === true) return { type: 'version' }
    return { type: 'start', options: readOptions(values, environment) }
  } catch (error) {
    const { message } = error as Error
    if (error instanceof OptionError) return { type: 'wrong', message }
    const [reason] = message.split(/\.[ \n]|\n/)
    return { type: 'wrong', message: `${reason?.replace(/\.$/, '')}; see sluice-receiver --help` }
  }
}
