import { ConfigError } from '../errors/sluice-error.js'
import { pathFault } from '../errors/text-of.js'
import { ownField } from '../runtime/own-fields.js'
import { readSecretFile, redacted } from './secret.js'

/** The variables of the process, or of a test. */
export type Environment = Readonly<Record<string, string | undefined>>

/** A variable by its name. */
export interface Variable {
  readonly name: string
  /** True for a variable with the path of a file that holds the text. */
  readonly namesFile?: boolean
}

/** The text that a variable gives, and the file with it if the variable names one. */
export interface Written {
  readonly text: string
  readonly file?: string
}

/** Reads a variable of an option; undefined if it is unset or empty. @throws {ConfigError} if a file cannot be read */
export function written(option: string, variable: Variable, environment: Environment): Written | undefined {
  const text = textOf(variable.name, environment)
  if (text === '') return undefined
  return variable.namesFile ? { text: secretIn(text, { option, variable: variable.name }), file: text } : { text }
}

/** The text of a variable without quotes around it. `docker run --env-file` passes them on; other readers of such a file remove them. */
function textOf(variable: string, environment: Environment): string {
  const text = ownField(environment, variable)?.trim() ?? ''
  return (/^(["'])(.*)\1$/s.exec(text)?.[2] ?? text).trim()
}

function secretIn(path: string, { option, variable }: { option: string; variable: string }): string {
  // The variable may hold the key itself by mistake, so only a path is shown.
  const shown = /[\\/]/.test(path) ? path : redacted
  const fail = (words: string) =>
    new ConfigError({
      code: 'SLUICE_CONFIG_INVALID',
      option,
      variable,
      value: shown,
      origin: 'environment',
      message: `${variable} (option ${option}): ${words}`,
    })
  let content: string
  try {
    content = readSecretFile(path)
  } catch (cause) {
    throw fail(
      `${pathFault(cause, { path: shown })}${shown === path ? '' : ' (it has no slash: it may be the key itself)'}`,
    )
  }
  const what = option === 'accessToken' ? 'token' : 'key'
  if (content === '') throw fail(`the file ${shown} is empty, expected the ${what} in it`)
  return content
}
