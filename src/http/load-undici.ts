import type * as undici from 'undici'

let loaded: typeof undici | undefined
let loading: Promise<typeof undici> | undefined

/** undici, once {@link loadUndici} has loaded it. */
export function loadedUndici(): typeof undici | undefined {
  return loaded
}

/**
 * Loads undici. It is not imported at the start: that takes a thread some 100 ms of CPU, and a process that ends soon does not need it.
 *
 * @throws where a file cannot be read. The next call tries again.
 */
export function loadUndici(): Promise<typeof undici> {
  loading ??= load().catch((error) => {
    loading = undefined
    throw error
  })
  return loading
}

async function load(): Promise<typeof undici> {
  // Bun has something of its own under the name of the package, without dispatchers. A file of the package is the package.
  loaded = await import('undici/index.js')
  return loaded
}
