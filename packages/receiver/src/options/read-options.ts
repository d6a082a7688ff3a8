import { nearestName } from '../../../../src/options/nearest-name.js'
import {
  type OptionName,
  type OptionRow,
  type Options,
  optionNames,
  optionTable,
  variableOf,
  variablePrefix,
  writtenName,
} from './option-table.js'
import { databaseUrl } from './option-value.js'

/** The variables of the process. */
export type Environment = Readonly<Record<string, string | undefined>>

/** An option or a variable that cannot be used. The message names it and says what was expected. */
export class OptionError extends Error {}

type Written = Readonly<Record<string, string | boolean | readonly string[] | undefined>>

/**
 * The values of all options: of the command first, then of the variables, then the defaults. An empty variable counts as none.
 *
 * @param written values by the names of the command
 * @throws {OptionError}
 */
export function readOptions(written: Written, environment: Environment): Options {
  const options = readSome(optionNames, { written, environment })
  if ((options.tlsCert === undefined) !== (options.tlsKey === undefined)) {
    const [have, lack] =
      options.tlsCert === undefined ? (['tlsKey', 'tlsCert'] as const) : (['tlsCert', 'tlsKey'] as const)
    throw new OptionError(`--${writtenName(have)} needs --${writtenName(lack)}: set it, or ${variableOf(lack)}`)
  }
  return options
}

/** The values of some options. @throws {OptionError} */
export function readSome<Name extends OptionName>(
  names: readonly Name[],
  { written, environment }: { readonly written: Written; readonly environment: Environment },
): Pick<Options, Name> {
  if (written.data !== undefined && written.database !== undefined) {
    throw new OptionError('--data and --database: expected one of them, as records are in a folder or in a database')
  }
  // An option of the command wins over a variable, of the other place as well.
  const isLeft = (name: Name) => name === 'database' && written.data !== undefined
  const values = names.map((name) => [
    name,
    isLeft(name) ? undefined : chosenValue(name, written[writtenName(name)], environment),
  ])
  return Object.fromEntries(values) as Pick<Options, Name>
}

function chosenValue(name: OptionName, written: Written[string], environment: Environment) {
  const row: OptionRow = optionTable[name]
  if (typeof written === 'boolean') return written
  // Several values are none that an option can have.
  const text = typeof written === 'object' ? written.join(' ') : written
  if (text !== undefined) return checked(`--${writtenName(name)}`, { row, text })
  return ofVariable(name, environment)
}

function ofVariable(name: OptionName, environment: Environment) {
  const row: OptionRow = optionTable[name]
  const variable = variableOf(name)
  const text = (Object.hasOwn(environment, variable) ? environment[variable]?.trim() : undefined) ?? ''
  return text === '' || isLink(text) ? row.default : checked(variable, { row, text })
}

function checked(source: string, { row: { kind }, text }: { readonly row: OptionRow; readonly text: string }) {
  const value = kind.read(text)
  if (value !== undefined) return value
  // A URL has a password.
  const got = kind === databaseUrl ? '' : `, got "${text}"`
  throw new OptionError(`${source}: expected ${kind.expected}${got}`)
}

/** Kubernetes sets `SLUICE_RECEIVER_PORT=tcp://10.0.0.1:80` and others for a service with the name sluice-receiver. */
function isLink(text: string): boolean {
  return /^(tcp|udp|sctp):\/\//.test(text)
}

const linkName = /^(SERVICE|PORT_\d+)_/

/** A line for each variable that begins as those of the receiver and is none of them. */
export function unknownVariables(environment: Environment): string[] {
  const known = optionNames.map(variableOf)
  return Object.keys(environment)
    .filter((variable) => variable.startsWith(variablePrefix) && !known.includes(variable))
    .filter((variable) => !linkName.test(variable.slice(variablePrefix.length)))
    .map((variable) => {
      const nearest = nearestVariable(variable, known)
      return `there is no variable ${variable}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`
    })
}

/** Compares what follows the prefix, which all of them have. */
function nearestVariable(variable: string, known: readonly string[]): string | undefined {
  const nearest = nearestName(
    variable.slice(variablePrefix.length),
    known.map((each) => each.slice(variablePrefix.length)),
  )
  return nearest === undefined ? undefined : `${variablePrefix}${nearest}`
}
