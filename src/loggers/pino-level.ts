import { ConfigError } from '../errors/config-error.js'
import { severityOfName, severityOfNumber } from '../records/level.js'

/** What pino tells of a logger's levels. */
export interface PinoLevels {
  readonly labels?: Readonly<Record<string, string>>
  readonly values?: Readonly<Record<string, number>>
}

/** Whether a line is severe enough; by its number where it has one. */
export type LevelGate = (line: { readonly number: number | undefined; readonly severity: number }) => boolean

/**
 * What the option `level` lets through. The level is one of the logger's, or the name that another logger gives to it, so that one
 * SLUICE_LEVEL serves all.
 *
 * @throws {ConfigError} for a name that nobody knows
 */
export function levelGate(level: string | undefined, values: PinoLevels['values']): LevelGate {
  if (level === undefined) return () => true
  const lowest = values?.[level]
  const severity = lowest === undefined ? severityOfName(level) : severityOfNumber(lowest)
  if (severity !== undefined) {
    return (line) =>
      lowest !== undefined && line.number !== undefined ? line.number >= lowest : line.severity >= severity
  }
  const message = `option level (SLUICE_LEVEL): expected the name of a level, such as info or warn, got ${JSON.stringify(level)}`
  throw new ConfigError({
    code: 'SLUICE_CONFIG_INVALID',
    option: 'level',
    variable: 'SLUICE_LEVEL',
    value: level,
    message,
  })
}
