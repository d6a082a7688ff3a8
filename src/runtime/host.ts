import { runInThisContext } from 'node:vm'

/**
 * The global object and the `process` of the thread itself. A test runner that evaluates modules in a context of its own (jest) gives
 * them another global object, and a copy of `process` that emits no events.
 */
export const hostGlobal: Record<symbol, unknown> = runInThisContext('globalThis')
export const hostProcess: NodeJS.Process = runInThisContext('process')

/** True for a SharedArrayBuffer of any context. */
export function isSharedMemory(value: unknown): value is SharedArrayBuffer {
  return Object.prototype.toString.call(value) === '[object SharedArrayBuffer]'
}
