import { optionNames, optionTable } from '../options/defaults.js'
import { nearestName } from '../options/nearest-name.js'
import type { SluiceOptions } from '../options/options.js'

/** The options with which pino started a target. */
export interface TargetOptions {
  /** To be checked as all options are: Sluice's own, and names that look like a misspelling of one. */
  readonly own: SluiceOptions
  /** Names that are none of Sluice's, and not known to be pino's: somebody should hear of them, and the target goes on. */
  readonly unknown: readonly string[]
}

/** Names that pino 7 to 10 and thread-stream put beside the options of a target. */
const addedByPino: ReadonlySet<string> = new Set(['levels', 'dedupe', 'targets', 'pipelines'])
/** They name most of what they add after themselves. */
const namedByPino = /^(pino|\$)/i

/**
 * Part the options of a target from what pino puts among them. A later pino may put there what this version does not know: that must not
 * end the application's logging.
 */
export function targetOptions(written: object): TargetOptions {
  const own: Record<string, unknown> = {}
  const unknown: string[] = []
  for (const [name, value] of Object.entries(written)) {
    if (Object.hasOwn(optionTable, name)) own[name] = value
    else if (addedByPino.has(name) || namedByPino.test(name)) continue
    else if (nearestName(name, optionNames) !== undefined) own[name] = value
    else unknown.push(name)
  }
  return { own, unknown }
}
