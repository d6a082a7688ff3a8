import { isMainThread } from 'node:worker_threads'
import { runtimeIdentity } from '../options/identity.js'
import { runtimes } from '../records/wire.js'
import { hostGlobal, hostProcess } from '../runtime/host.js'

/**
 * Calls `end` before an exception that nobody catches, or a rejection that nobody handles, ends the process where no `exit` follows: on
 * Deno. What an application lives on after, by a listener of either kind, is none of our business.
 */
export function onFatalError(end: () => void): void {
  if (!isMainThread || runtimeIdentity().runtime !== runtimes.deno) return
  // Listeners of these events are called before, and any of them may prevent the end.
  let heard: Event | undefined
  const hear = (event: Event) => {
    heard = event
  }
  const target = hostGlobal as unknown as EventTarget
  for (const type of ['error', 'unhandledrejection']) target.addEventListener(type, hear)
  hostProcess.on('uncaughtExceptionMonitor', () => {
    const prevented = heard?.defaultPrevented === true
    heard = undefined
    const caught =
      hostProcess.listenerCount('uncaughtException') > 0 || hostProcess.hasUncaughtExceptionCaptureCallback()
    if (!prevented && !caught) end()
  })
}
