import type { Given, Resolved } from './option.js'
import { Secret } from './secret.js'
import type { table } from './table.js'

type Table = typeof table

/**
 * The options of Sluice. An option has precedence over its variable, and a variable over the default. An empty variable counts as unset.
 * An invalid value throws `ConfigError` where Sluice is set up.
 * @interface
 */
export type SluiceOptions = { readonly [Name in keyof Table]?: Given<Table[Name]> | undefined }

/** Complete options. A value is undefined only where that has a meaning of its own. The lanes have their buckets. */
export type ResolvedOptions = { readonly [Name in keyof Table as Exclude<Name, 'bucket'>]: Resolved<Table[Name]> }

export type OptionName = keyof Table

/** The source of each option's value: `option`, the name of a variable or of a fallback, or `default`. */
export type Sources = Readonly<Partial<Record<OptionName, string>>>

/** An option in the form that people see. Secrets are redacted. */
export interface DescribedOption {
  readonly name: string
  /** The value as JSON; `none` if there is none; `function` for a function. */
  readonly value: string
  /** Origin of the value: see {@link Sources}. */
  readonly source: string
}

/** Every option with its value and its source, in the order of the names. */
export function describeOptions(options: object, sources: Readonly<Record<string, string>>): DescribedOption[] {
  return Object.entries(options)
    .map(([name, value]) => ({ name, value: shown(value), source: sources[name] ?? 'default' }))
    .sort((one, other) => (one.name < other.name ? -1 : 1))
}

function shown(value: unknown): string {
  if (isNone(value)) return 'none'
  return typeof value === 'function' ? 'function' : JSON.stringify(value)
}

/** True for a value that stands for none. */
export function isNone(value: unknown): boolean {
  return value === undefined || value === '' || (value instanceof Secret && value.reveal() === '')
}
