import { AsyncResource } from 'node:async_hooks'

/**
 * The properties by which a resource of Node.js keeps the stores of `AsyncLocalStorage` of the task that made it: before Node.js 24, and since.
 * They are undocumented. Where a later version names them otherwise, the first request of a process is kept in memory, as before.
 */
export const storeNames: RegExp = /^(kResourceStore|kAsyncContextFrame|context_frame)$/

const outside = withoutStores(new AsyncResource('sluice', { requireManualDestroy: true }))

/**
 * Do work that belongs to the process, outside of the request in which it happens to begin. Workers, channels, listeners and timers keep the
 * stores of the task that made them as long as they live.
 */
export function outsideTasks<Result>(work: () => Result): Result {
  return outside.runInAsyncScope(work)
}

function withoutStores(resource: AsyncResource): AsyncResource {
  for (const name of Object.getOwnPropertySymbols(resource)) {
    if (storeNames.test(name.description ?? '')) Reflect.set(resource, name, undefined)
  }
  return resource
}
