import { join } from 'node:path'
import { ownField } from '../runtime/own-fields.js'
import { optionTable, variablesOf } from './defaults.js'
import type { Environment } from './environment.js'
import { readPlainFile } from './plain-file.js'

/** The file that frameworks and `node --env-file` read by this name. */
const name = '.env'
/** Longer than any such file. */
const maxBytes = 65_536

/** The variables that say where records go. */
export const destinationVariables: readonly string[] = (
  ['url', 'apiKey', 'bucket', 'logBucket', 'valueBucket'] as const
).flatMap((option) => variablesOf(optionTable[option]))

/**
 * The variables of the destination that stand in the file `.env` of the working directory and are not set: nothing has loaded the file, or
 * not yet. Never throws.
 */
export function unloadedVariables(environment: Environment, folder?: string): string[] {
  try {
    const text = readPlainFile(join(folder ?? process.cwd(), name), { maxBytes, follow: true }).toString('utf8')
    const written = new Set(
      [...text.matchAll(/^[ \t]*(?:export[ \t]+)?(SLUICE_\w+)[ \t]*=[ \t]*[^\s#]/gm)].map(([, variable]) => variable),
    )
    return destinationVariables.filter((variable) => written.has(variable) && !ownField(environment, String(variable)))
  } catch {
    // There is no such file, or no right to read it.
    return []
  }
}
