import { runInThisContext } from 'node:vm'

/**
 * The global object and the `process` of the thread itself. Test runners that evaluate modules in a context of their own (jest) give
 * them a new global object, and a copy of `process` on which no event ever comes.
 */
export const hostGlobal: Record<symbol, unknown> = runInThisContext('globalThis')
export const hostProcess: NodeJS.Process = runInThisContext('process')

/** Whether it is a SharedArrayBuffer, of whichever of those contexts. */
export function isSharedMemory(value: unknown): value is SharedArrayBuffer {
  return Object.prototype.toString.call(value) === '[object SharedArrayBuffer]'
}
