import { ConfigError } from '../errors/sluice-error.js'
import { quoted } from '../errors/text-of.js'
import { LevelNames, severityOfName } from '../records/level.js'
import { overridingLevel } from '../runtime/level-override.js'
import { ownField } from '../runtime/own-fields.js'
import type { PinoLevels } from './pino-logger.js'

/** The level, as pino names it, from which on there are no lines. */
export const silent = 'silent'

/** True for a line that is severe enough, by its number if it has one. */
export type LevelGate = (line: { readonly number: number | undefined; readonly severity: number }) => boolean

/**
 * The lines that the option `level` lets through. It is a level of the logger, or a level's name in another logger, so that one
 * SLUICE_LEVEL works for all loggers.
 *
 * @throws {ConfigError} for an unknown name
 */
export function levelGate(level: string | undefined, values: PinoLevels['values']): LevelGate {
  const gate = level === undefined ? () => true : gateOf(level, values)
  if (gate !== undefined) return gate
  const message = `option level (SLUICE_LEVEL): expected the name of a level, such as info or warn, got ${JSON.stringify(level)}`
  throw new ConfigError({
    code: 'SLUICE_CONFIG_INVALID',
    option: 'level',
    variable: 'SLUICE_LEVEL',
    value: level,
    message,
  })
}

/** The lines from this level on; undefined for a name that neither the logger nor another one knows. */
function gateOf(level: string, values: PinoLevels['values']): LevelGate | undefined {
  if (level === silent) return () => false
  const lowest = values && ownField(values, level)
  if (values === undefined || lowest === undefined) {
    const severity = severityOfName(level)
    return severity === undefined ? undefined : (line) => line.severity >= severity
  }
  const names = new LevelNames(Object.fromEntries(Object.entries(values).map(([name, number]) => [number, name])))
  const severity = names.severityOf(lowest)
  const sign = names.isDescending && Number.isFinite(lowest) ? -1 : 1
  return (line) => (line.number === undefined ? line.severity >= severity : line.number * sign >= lowest * sign)
}

export interface CurrentGatePlan {
  /** The option `level`. */
  readonly level: string | undefined
  /** Where the option comes from. The mistake of a variable is reported, and lines of all levels are sent. @default the code */
  readonly source?: string | undefined
  /** The logger is made when nobody can be thrown at any more: the mistake of the code is reported, too. */
  readonly isLate?: boolean
  /** The numbers of the logger's levels, by name. */
  readonly values: PinoLevels['values']
  /** Called with a text for people, when `setLevel` names a level that the logger does not know. */
  readonly report: (text: string) => void
  /** The level that holds in place of the option. @default that of `setLevel` */
  readonly overriding?: () => string | undefined
}

/**
 * The lines that the level of `setLevel` lets through while it holds, else those of {@link levelGate}.
 *
 * @throws {ConfigError} for an unknown name in an option of the code
 */
export function currentGate(plan: CurrentGatePlan): LevelGate {
  const { level, source, isLate, values, report, overriding = overridingLevel } = plan
  const configured = isLate || source?.startsWith('SLUICE_') ? lenientGate(plan) : levelGate(level, values)
  let name: string | undefined
  let gate = configured
  return (line) => {
    const override = overriding()
    if (override !== name) {
      name = override
      const known = override === undefined ? configured : gateOf(override, values)
      if (known === undefined) report(unknownOverride(override))
      gate = known ?? configured
    }
    return gate(line)
  }
}

function lenientGate({ level, values, report }: CurrentGatePlan): LevelGate {
  const gate = level === undefined ? undefined : gateOf(level, values)
  if (level !== undefined && gate === undefined) report(unknownLevel(level))
  return gate ?? (() => true)
}

/** The report of a logger that does not know the option `level`. */
export function unknownLevel(level: string): string {
  return `option level (SLUICE_LEVEL): unknown level ${quoted(level)}; lines of all levels are sent`
}

/** The report of a logger that does not know the level of `setLevel`. */
export function unknownOverride(level: string | undefined): string {
  return `setLevel: a logger does not know the level ${quoted(level)} and stays at its option level (SLUICE_LEVEL)`
}
