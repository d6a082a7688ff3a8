import type * as undici from 'undici'

/** The parts of undici that are used. */
export interface UndiciParts {
  readonly Pool: typeof undici.Pool
  readonly ProxyAgent: typeof undici.ProxyAgent
}

let loaded: UndiciParts | undefined
let loading: Promise<UndiciParts> | undefined

/** The parts, once {@link loadUndici} has loaded them. */
export function loadedUndici(): UndiciParts | undefined {
  return loaded
}

/**
 * Loads parts of undici, which the package has in a file of its own.
 *
 * They are not imported at the start: that takes every thread 20 ms of CPU, and most processes never need them. A bundler keeps them in the
 * file that loads them.
 *
 * The index of undici reads `globalThis.Headers`. Then Node loads its own undici, and compiles WebAssembly in the background. A worker that
 * ends meanwhile can end the process with SIGSEGV, as a core dump of Node 20.20 shows: one in some 4,000 workers that had just started. The
 * index also costs 9 MB more, and 60 to 110 ms of CPU at each start.
 *
 * @throws where a file cannot be read. The next call tries again.
 */
export function loadUndici(): Promise<UndiciParts> {
  loading ??= load().catch((error) => {
    loading = undefined
    throw error
  })
  return loading
}

async function load(): Promise<UndiciParts> {
  const { Pool, ProxyAgent } = await import(/* webpackMode: "eager" */ './undici.js')
  loaded = { Pool, ProxyAgent }
  return loaded
}
