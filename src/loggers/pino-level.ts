import { ConfigError } from '../errors/config-error.js'
import { severityOfName, severityOfNumber } from '../records/level.js'

/** What pino tells of a logger's levels. */
export interface PinoLevels {
  readonly labels?: Readonly<Record<string, string>>
  readonly values?: Readonly<Record<string, number>>
}

/**
 * The severity from which the option `level` lets lines through. The level is one of the logger's, or the name that another logger
 * gives to it, so that one SLUICE_LEVEL serves all.
 *
 * @throws {ConfigError} for a name that nobody knows
 */
export function lowestSeverity(level: string | undefined, values: PinoLevels['values']): number {
  if (level === undefined) return Number.NEGATIVE_INFINITY
  const number = values?.[level]
  const severity = number === undefined ? severityOfName(level) : severityOfNumber(number)
  if (severity !== undefined) return severity
  const message = `option level (SLUICE_LEVEL): expected the name of a level, got ${JSON.stringify(level)}`
  throw new ConfigError({
    code: 'SLUICE_CONFIG_INVALID',
    option: 'level',
    variable: 'SLUICE_LEVEL',
    value: level,
    message,
  })
}
