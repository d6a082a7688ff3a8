import { join } from 'node:path'
import { ownField } from '../runtime/own-fields.js'
import { readPlainFile } from '../runtime/plain-file.js'
import { clientTable } from './client-options.js'
import type { Environment } from './environment.js'
import { nearestName } from './nearest-name.js'
import { table } from './table.js'

/** The variables of some options. */
function variablesOf(rows: readonly { readonly variables: readonly { readonly name: string }[] }[]): string[] {
  return rows.flatMap(({ variables }) => variables.map(({ name }) => name))
}

/** Every variable of Sluice. */
export const knownVariables: readonly string[] = variablesOf([...Object.values(table), ...Object.values(clientTable)])

/** The variables that say where records go. */
export const destinationVariables: readonly string[] = variablesOf([
  table.url,
  table.apiKey,
  table.bucket,
  table.logBucket,
  table.valueBucket,
])

const prefix = 'SLUICE_'

/**
 * Unknown variables that begin with `SLUICE_` and look like a misspelling of a known one. Others are ignored: Kubernetes sets
 * `SLUICE_SERVICE_HOST` for a service with the name sluice.
 */
export function misspeltVariables(environment: Environment): { variable: string; nearest: string }[] {
  const known = knownVariables.map((variable) => variable.slice(prefix.length))
  return Object.keys(environment)
    .filter((variable) => variable.startsWith(prefix) && !knownVariables.includes(variable))
    .flatMap((variable) => {
      const name = variable.slice(prefix.length)
      const nearest = nearestName(name, known) ?? known.find((whole) => isPartOf(name, whole))
      return nearest === undefined ? [] : [{ variable, nearest: `${prefix}${nearest}` }]
    })
}

/** True for the first or the last words of a name. Images use `SLUICE_VERSION` for the version that they install. */
function isPartOf(name: string, whole: string): boolean {
  return name !== '' && name !== 'VERSION' && (whole.startsWith(`${name}_`) || whole.endsWith(`_${name}`))
}

/** Longer than any file `.env`. */
const maxBytes = 65_536

/**
 * The variables of the destination that stand in the file `.env` of the working directory and are not set: nothing has loaded the file, or
 * not yet. Never throws.
 */
export function unloadedVariables(environment: Environment, folder?: string): string[] {
  try {
    // The file that frameworks and `node --env-file` read by this name.
    const path = join(folder ?? process.cwd(), '.env')
    const text = readPlainFile(path, { maxBytes, follow: true }).toString('utf8')
    const written = new Set(
      [...text.matchAll(/^[ \t]*(?:export[ \t]+)?(SLUICE_\w+)[ \t]*=[ \t]*[^\s#]/gm)].map(([, variable]) => variable),
    )
    return destinationVariables.filter((variable) => written.has(variable) && !ownField(environment, variable))
  } catch {
    // There is no such file, or no right to read it.
    return []
  }
}
