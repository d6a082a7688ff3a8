import { ConfigError, type ConfigMistake } from '../errors/sluice-error.js'
import { reasonOf } from '../errors/text-of.js'
import { ownField } from '../runtime/own-fields.js'
import { type OptionRow, optionNames, optionTable, variablesOf } from './defaults.js'
import { nearestName } from './nearest-name.js'
import { readVariable } from './option-value.js'
import { readSecretFile, redacted } from './secret.js'

/** The variables of the process, or of a test. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The text of a variable. */
export interface Written {
  readonly variable: string
  readonly text: string
  /** The file with the text, if the variable names one. */
  readonly file?: string
}

/** The text that sets an option; undefined if its variables are unset or empty. @throws {ConfigError} if a file cannot be read */
export function written(option: string, row: OptionRow, environment: Environment): Written | undefined {
  const text = textOf(row.variable, environment)
  if (row.variable !== undefined && text !== '') return { variable: row.variable, text }
  const file = textOf(row.fileVariable, environment)
  if (row.fileVariable === undefined || file === '') return undefined
  const { fileVariable: variable } = row
  return { variable, text: secretOf({ option, variable, path: file }), file }
}

/** The texts of both variables of `redact`, each undefined if it is unset or empty. */
export function writtenRedaction({ variable, patternsVariable }: OptionRow, environment: Environment) {
  const read = (name: string | undefined) => textOf(name, environment) || undefined
  return { keys: read(variable), patterns: read(patternsVariable) }
}

/** The text of a variable without quotes around it. `docker run --env-file` passes them on; other readers of such a file remove them. */
function textOf(variable: string | undefined, environment: Environment): string {
  const text = (variable === undefined ? undefined : ownField(environment, variable))?.trim() ?? ''
  return (/^(["'])(.*)\1$/s.exec(text)?.[2] ?? text).trim()
}

/**
 * Unknown variables that begin with `SLUICE_` and look like a misspelling of a known one. Others are ignored: Kubernetes sets
 * `SLUICE_SERVICE_HOST` for a service with the name sluice.
 */
export function misspeltVariables(environment: Environment): { variable: string; nearest: string }[] {
  const known = optionNames
    .flatMap((name) => variablesOf(optionTable[name]))
    .map((variable) => variable.slice(prefix.length))
  return Object.keys(environment)
    .filter((variable) => variable.startsWith(prefix) && !known.includes(variable.slice(prefix.length)))
    .flatMap((variable) => {
      const name = variable.slice(prefix.length)
      const nearest = nearestName(name, known) ?? known.find((whole) => isPartOf(name, whole))
      return nearest === undefined ? [] : [{ variable, nearest: `${prefix}${nearest}` }]
    })
}

/** True for the first or the last words of a name. Images use `SLUICE_VERSION` for the version that they install. */
function isPartOf(name: string, whole: string): boolean {
  return name !== '' && name !== 'VERSION' && (whole.startsWith(`${name}_`) || whole.endsWith(`_${name}`))
}

const prefix = 'SLUICE_'

function secretOf({ option, variable, path }: { option: string; variable: string; path: string }): string {
  // The variable may hold the key itself by mistake, so only a path is shown.
  const shown = /[\\/]/.test(path) ? path : redacted
  let content: string
  try {
    content = readSecretFile(path)
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    const message = `${variable} (option ${option}): cannot read the file ${shown}: ${code ?? reasonOf(cause)}`
    throw invalidFile({ option, variable, value: shown, message })
  }
  if (content === '') {
    const what = option === 'accessToken' ? 'token' : 'key'
    const message = `${variable} (option ${option}): the file ${shown} is empty, expected the ${what} in it`
    throw invalidFile({ option, variable, value: shown, message })
  }
  return content
}

function invalidFile(mistake: Omit<ConfigMistake, 'code' | 'origin'>): ConfigError {
  return new ConfigError({ ...mistake, code: 'SLUICE_CONFIG_INVALID', origin: 'environment' })
}

/** One option from the environment. The default if the variable is unset or has an invalid value. */
export function loneOption(name: 'shutdownTimeoutMs' | 'handleSignals', environment: Environment): unknown {
  const row = optionTable[name]
  const text = written(name, row, environment)?.text
  const checked = text === undefined ? undefined : readVariable(row.kind, text)
  return checked?.ok ? checked.value : row.default
}
