import { printLine } from '../diagnostics/stderr.js'
import { misspeltVariables } from '../options/environment.js'
import { describeOptions } from '../options/option-value.js'
import type { SluiceOptions } from '../options/options.js'
import { type Need, type Resolution, resolve } from '../options/resolve.js'
import { firstInProcess } from '../runtime/shared-state.js'
import { currentCapture } from './capture.js'

/**
 * Resolve the options against the process's environment. Prints once that Sluice is off, that a variable looks misspelt, and with `debug`
 * every option with its source.
 *
 * @throws {ConfigError}
 */
export function configure(user: SluiceOptions, needs: Need): Resolution {
  reportMisspelt()
  const resolution = resolveFor(user, needs)
  if (resolution.state === 'on') printResolved(resolution)
  else if (resolution.reason === 'not-configured' && currentCapture() === undefined && firstInProcess('off')) {
    printLine('off: set SLUICE_URL, SLUICE_API_KEY and SLUICE_BUCKET to ship logs and value events')
  }
  return resolution
}

/** A test that captures needs no destination. The environment's settings are left out when they cannot be used. */
function resolveFor(user: SluiceOptions, needs: Need): Resolution {
  try {
    return resolve(user, { environment: process.env, needs })
  } catch (error) {
    if (currentCapture() === undefined || needs === 'content') throw error
    return resolve({ ...user, disabled: true }, { environment: {}, needs })
  }
}

/** Print once the variables that look misspelt. */
export function reportMisspelt(): void {
  const misspelt = misspeltVariables(process.env)
  if (misspelt.length === 0 || !firstInProcess('misspelt')) return
  for (const { variable, nearest } of misspelt) printLine(`unknown variable ${variable}; did you mean ${nearest}?`)
}

/** With the option `debug`: print every option with its source. */
export function printResolved({ options, sources }: Pick<Resolution, 'options' | 'sources'>): void {
  if (!options.debug) return
  for (const { name, value, source } of describeOptions(options, sources)) printLine(`${name}=${value} (${source})`)
}
