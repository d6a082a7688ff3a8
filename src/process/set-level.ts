import { ConfigError } from '../errors/sluice-error.js'
import { quoted } from '../errors/text-of.js'
import { ownFields } from '../runtime/own-fields.js'
import { maxLevelBytes, sharedLevel } from '../runtime/shared-level.js'
import { processNow } from '../runtime/shared-state.js'
import { processRegistry } from './registry.js'

/** How long a level of `setLevel` holds. */
export interface SetLevelOptions {
  /** Milliseconds, above 0. @default until the next call */
  readonly forMs?: number | undefined
}

/**
 * Ship from this level on, in place of the option `level` (`SLUICE_LEVEL`), in every logger of the process and in all of its threads, pino's
 * workers included. It decides which of the logged lines are shipped: what a logger logs is still decided by the logger's own level.
 *
 *     setLevel('debug', { forMs: 600_000 }) // ten minutes
 *     setLevel(undefined) // the option `level` holds again
 *
 * A later call replaces an earlier one. A logger that does not know the level stays at its option `level`, and says so on stderr.
 *
 * @param level the name of a level, at most 64 bytes long; undefined to go back to the option `level` at once
 * @throws {ConfigError} for a level that is no text, empty or too long, and for a time that is not above 0
 */
export function setLevel(level: string | undefined, options: SetLevelOptions = {}): void {
  const forMs = timeOf(options)
  if (level !== undefined && !isName(level)) {
    throw invalid('level', level, 'the name of a level, such as debug or warn, or undefined')
  }
  sharedLevel().set(level, { now: processNow(), forMs })
  processRegistry().tellLevel?.()
}

function timeOf(options: unknown): number {
  if (typeof options !== 'object' || options === null) {
    throw invalid('options', options, 'an object, such as { forMs: 600_000 }')
  }
  const { forMs = Number.POSITIVE_INFINITY, ...others } = ownFields(options as SetLevelOptions)
  const [unknown] = Object.keys(others)
  // A misspelt time would hold without an end.
  if (unknown !== undefined) throw invalid('options', unknown, 'no other name than forMs')
  if (!(typeof forMs === 'number' && forMs > 0)) throw invalid('forMs', forMs, 'a number of milliseconds above 0')
  return forMs
}

function isName(level: unknown): boolean {
  return typeof level === 'string' && level.trim() !== '' && Buffer.byteLength(level) <= maxLevelBytes
}

function invalid(option: string, value: unknown, expected: string): ConfigError {
  const message = `setLevel, ${option}: expected ${expected}, got ${quoted(value)}`
  return new ConfigError({ code: 'SLUICE_CONFIG_INVALID', option, value, message })
}
