import { runInThisContext } from 'node:vm'

/**
 * The global object and the `process` of the thread itself. Test runners that evaluate modules in a context of their own (jest) give
 * them a new global object, and a copy of `process` on which no event ever comes.
 */
export const hostGlobal: Record<symbol, unknown> = runInThisContext('globalThis')
export const hostProcess: NodeJS.Process = runInThisContext('process')
