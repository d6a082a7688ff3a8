import { optionNames } from '../options/defaults.js'
import { misspeltVariables } from '../options/environment.js'
import type { ResolvedOptions, SluiceOptions } from '../options/options.js'
import { type Need, type Resolution, resolve, type Sources } from '../options/resolve.js'
import { currentCapture } from './capture.js'
import { firstInProcess } from './once.js'
import { printLine } from './telling.js'

/**
 * Resolve the options against the process's environment and say, once, what a person should know: that Sluice is off, that a
 * variable looks misspelt, and with `debug` every option with its source.
 *
 * @throws {ConfigError}
 */
export function configure(user: SluiceOptions, needs: Need): Resolution {
  const misspelt = misspeltVariables(process.env)
  if (misspelt.length > 0 && firstInProcess('misspelt')) {
    for (const { variable, nearest } of misspelt) printLine(`unknown variable ${variable}; did you mean ${nearest}?`)
  }
  const resolution = resolveFor(user, needs)
  if (resolution.state === 'on') {
    if (resolution.options.debug) printResolved(resolution.options, resolution.sources)
  } else if (resolution.reason === 'not-configured' && currentCapture() === undefined && firstInProcess('off')) {
    printLine('off: set SLUICE_URL, SLUICE_API_KEY and SLUICE_BUCKET to ship logs and value events')
  }
  return resolution
}

/** A test that captures wants no destination, right or wrong: what the environment says of one is left out when it cannot be used. */
function resolveFor(user: SluiceOptions, needs: Need): Resolution {
  try {
    return resolve(user, { environment: process.env, needs })
  } catch (error) {
    if (currentCapture() === undefined || needs === 'content') throw error
    return resolve({ ...user, disabled: true }, { environment: {}, needs })
  }
}

function printResolved(options: ResolvedOptions, sources: Sources): void {
  for (const name of [...optionNames].sort()) {
    if (name === 'bucket') continue
    const value = options[name]
    const shown = value === undefined ? 'none' : typeof value === 'function' ? 'function' : JSON.stringify(value)
    // What no row of the table says of a lane comes from the bucket of both.
    const fallback = name.endsWith('Bucket') ? sources.bucket : undefined
    printLine(`${name}=${shown} (${sources[name] ?? fallback ?? 'default'})`)
  }
}
