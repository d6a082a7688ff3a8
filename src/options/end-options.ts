import { endOptions } from './end-defaults.js'
import { type Environment, loneOption } from './environment.js'

type EndOption<Name> = Name extends 'handleSignals' ? boolean : number

/** One of them from the environment. The default if the variable is unset or has an invalid value. */
export function endOption<Name extends keyof typeof endOptions>(name: Name, environment: Environment): EndOption<Name> {
  const { variable, default: preset } = endOptions[name]
  try {
    // Most applications set neither. All that reads options is not needed then.
    if (Object.hasOwn(environment, variable)) return loneOption(name, environment) as EndOption<Name>
  } catch {
    // The engine cannot be read. The end of the process must not fail for it.
  }
  return preset as EndOption<Name>
}
