import { existsSync } from 'node:fs'
// By another name than the banner that many bundles begin with.
import { createRequire as requireOf } from 'node:module'
import { fileURLToPath } from 'node:url'
import type ThreadStream from 'thread-stream'

/** Streams to the delivery workers of this package, which closes them itself. */
export const ownStreams = new WeakSet<object>()

/** It is not imported: most threads that load this file start no worker, and none is started in the bundle of an application. */
export function loadThreadStream(): typeof ThreadStream {
  try {
    return requireOf(import.meta.url)('thread-stream')
  } catch (cause) {
    throw new Error('thread-stream cannot be loaded', { cause })
  }
}

declare const __webpack_require__: unknown

/** The names that tools/build.js gives to files which entries share. */
const shared = /(?<=\/dist\/)sluice-\w+\.js$/

/**
 * The worker's file beside this one. Undefined in the bundle of an application: any file may lie beside that.
 *
 * No `new URL(…, import.meta.url)` with the name in it: a bundler would copy the file to a place where it does not find undici.
 */
export function workerFile(): URL | undefined {
  try {
    const here = import.meta.url
    if (typeof __webpack_require__ !== 'undefined') return undefined
    if (!shared.test(here)) return undefined
    const file = new URL(here.replace(shared, 'delivery-worker.mjs'))
    return existsSync(fileURLToPath(file)) ? file : undefined
  } catch {
    // An address that is no file.
    return undefined
  }
}
