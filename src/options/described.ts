import { optionNames } from './defaults.js'
import type { OptionName, ResolvedOptions } from './options.js'
import type { Sources } from './resolve.js'
import { Secret } from './secret.js'

/** An option as it is shown to people: secrets are redacted. */
export interface DescribedOption {
  readonly name: OptionName
  /** JSON of the value; `none` where there is none, `function` for one. */
  readonly value: string
  /** Where it came from. */
  readonly source: string
}

/** Every option with its value and its source, by name. What `bucket` says is told by the buckets of the lanes. */
export function describeOptions(options: ResolvedOptions, sources: Sources): DescribedOption[] {
  const names = [...optionNames].sort().filter((name) => name !== 'bucket') as Exclude<OptionName, 'bucket'>[]
  return names.map((name) => {
    const value = options[name]
    const isNone = value === undefined || value === '' || (value instanceof Secret && value.reveal() === '')
    const shown = isNone ? 'none' : typeof value === 'function' ? 'function' : JSON.stringify(value)
    // What no row of the table says of a lane comes from the bucket of both.
    const fallback = name.endsWith('Bucket') ? sources.bucket : undefined
    return { name, value: shown, source: sources[name] ?? fallback ?? 'default' }
  })
}
