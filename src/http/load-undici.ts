// By another name than the banner that many bundles begin with.
import { createRequire as requireOf } from 'node:module'
import type * as undici from 'undici'
import { describeError } from './describe-error.js'

let loaded: typeof undici | undefined
let loading: Promise<typeof undici> | undefined
/** Node keeps the error of an import for ever. */
let isImportSpoilt = false

/** undici, once {@link loadUndici} has loaded it. */
export function loadedUndici(): typeof undici | undefined {
  return loaded
}

/**
 * Loads undici. It is not imported at the start: that takes a thread some 100 ms of CPU, and few processes need it.
 *
 * @throws where a file cannot be read, as in a process without a free file descriptor. The next call tries again.
 */
export function loadUndici(): Promise<typeof undici> {
  loading ??= load().catch((error) => {
    loading = undefined
    isImportSpoilt = true
    throw error
  })
  return loading
}

async function load(): Promise<typeof undici> {
  // Bun has something of its own under the name of the package, without dispatchers. A file of the package is the package.
  loaded = isImportSpoilt ? required() : await import('undici/index.js')
  return loaded
}

function required(): typeof undici {
  try {
    return requireOf(import.meta.url)('undici/index.js')
  } catch (cause) {
    throw new Error(`undici cannot be loaded: ${describeError(cause)}`, { cause })
  }
}
