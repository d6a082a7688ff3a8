import { optionTable } from './defaults.js'
import { type Environment, written } from './environment.js'
import { readVariable } from './option-value.js'

/**
 * One option as the environment has it, for what must be known before any engine has resolved them all: its default where nothing, or
 * nothing sensible, is set.
 */
export function loneOption<Name extends 'shutdownTimeoutMs' | 'handleSignals'>(name: Name, environment: Environment) {
  const row = optionTable[name]
  const text = written(name, row, environment)?.text
  const checked = text === undefined ? undefined : readVariable(row.kind, text)
  return (checked?.ok ? checked.value : row.default) as Name extends 'handleSignals' ? boolean : number
}
