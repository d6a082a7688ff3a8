import { printLine } from '../diagnostics/stderr.js'
import { ConfigError } from '../errors/sluice-error.js'
import { quoted } from '../errors/text-of.js'
import type { ClientOptions, ResolvedClientOptions } from '../options/client-options.js'
import { runtimeIdentity } from '../options/identity.js'
import { describeOptions, type SluiceOptions } from '../options/options.js'
import { type Need, type Resolution, resolve } from '../options/resolve.js'
import { destinationVariables, misspeltVariables, unloadedVariables } from '../options/variables.js'
import { firstInProcess, isNews } from '../runtime/shared-state.js'
import { currentCapture } from './capture.js'
import { processRegistry } from './registry.js'

/**
 * Resolve the options against the process's environment, for a caller that can handle an error. Prints once that Sluice is off, that a
 * variable looks misspelt, and with `debug` every option with its source.
 *
 * @throws {ConfigError} for every mistake, in code and in the environment
 */
export function configure(user: ClientOptions, needs: 'content'): Resolution<ResolvedClientOptions>
export function configure(user: SluiceOptions, needs: Need): Resolution
export function configure(user: SluiceOptions, needs: Need): Resolution {
  try {
    return told(resolveFor(user, needs))
  } catch (error) {
    reportMisspelt()
    throw error
  }
}

/**
 * The same for loggers and `track`. A mistake in the environment must not end an application that logs: Sluice is off then, with one line on
 * stderr.
 *
 * @throws {ConfigError} for a mistake in code alone
 */
export function configureOrOff(user: SluiceOptions, needs: Need): Resolution {
  try {
    return told(resolveFor(user, needs))
  } catch (error) {
    if (!(error instanceof ConfigError) || error.origin === 'code') {
      reportMisspelt()
      throw error
    }
    const off = withoutEnvironment(user, needs)
    processRegistry().reportOff?.(error.message)
    if (isUntold(error)) {
      const text = `off: ${error.message}; no records are sent until this is corrected: npx sluice doctor checks it`
      printLine(`${text}${error.code === 'SLUICE_CONFIG_MISSING' ? hints() : ''}`)
    }
    return { ...off, state: 'off', reason: 'misconfigured' }
  }
}

/** A test that captures needs no destination. The environment's settings are left out when they cannot be used. */
function resolveFor(user: SluiceOptions, needs: Need): Resolution {
  try {
    return resolve(user, { environment: process.env, needs })
  } catch (error) {
    if (currentCapture() === undefined || needs === 'content') throw error
    return withoutEnvironment(user, needs)
  }
}

/** Off, with the options of the code. @throws {ConfigError} for a mistake in them */
function withoutEnvironment(user: SluiceOptions, needs: Need): Resolution {
  return resolve({ ...user, disabled: true }, { environment: {}, needs })
}

function told(resolution: Resolution): Resolution {
  if (resolution.state === 'off' && resolution.reason === 'not-configured') {
    if (currentCapture() !== undefined || !firstInProcess('off')) return resolution
    const text = `${notConfigured}${hints()}`
    reportMisspelt()
    printLine(text)
    return resolution
  }
  reportMisspelt()
  if (resolution.state === 'on') printResolved(resolution)
  return resolution
}

const notConfigured = 'off: set SLUICE_URL, SLUICE_API_KEY and SLUICE_BUCKET to ship logs and value events'

/** Why variables of the destination may be missing, as the end of a line. */
function hints(): string {
  const misspelt = misspeltVariables(process.env).some(({ nearest }) => destinationVariables.includes(nearest))
  const unloaded = unloadedVariables(process.env)
  const names = [unloaded.slice(0, -1).join(', '), ...unloaded.slice(-1)].filter((part) => part !== '').join(' and ')
  const start = `${runtimeIdentity().name === 'Deno' ? 'deno run' : 'node'} --env-file=.env`
  const file = `${names} ${unloaded.length === 1 ? 'is' : 'are'} in .env, which nothing has loaded: start with ${start}`
  return [...(misspelt ? misspeltTexts() : []), ...(unloaded.length === 0 ? [] : [file])]
    .map((text) => `; ${text}`)
    .join('')
}

/** The variables that look misspelt, at the first call in the process. */
function misspeltTexts(): string[] {
  const misspelt = misspeltVariables(process.env)
  if (misspelt.length === 0 || !firstInProcess('misspelt')) return []
  return misspelt.map(({ variable, nearest }) => `unknown variable ${variable}; did you mean ${nearest}?`)
}

let lastMistake: string | undefined

/** True for a mistake that no thread has told of late, and this one not before. Log records and value records may need different words. */
function isUntold({ code, option, value }: ConfigError): boolean {
  const mistake = `${code} ${option} ${quoted(value)}`
  const again = mistake === lastMistake
  lastMistake = mistake
  return isNews(mistake) && !again
}

/** Print once the variables that look misspelt. */
export function reportMisspelt(): void {
  for (const text of misspeltTexts()) printLine(text)
}

/** With the option `debug`: print every option with its source. */
export function printResolved({ options, sources }: Pick<Resolution, 'options' | 'sources'>): void {
  if (!options.debug) return
  for (const { name, value, source } of describeOptions(options, sources)) printLine(`${name}=${value} (${source})`)
}
