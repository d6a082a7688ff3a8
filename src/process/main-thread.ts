// By another name than the banner that many bundles begin with.
import { createRequire as requireOf } from 'node:module'
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads'
import { printLine } from '../diagnostics/stderr.js'
import { runtimeIdentity } from '../options/identity.js'
import { runtimes } from '../records/wire.js'
import { hostProcess } from '../runtime/host.js'
import { storeNames } from '../runtime/own-context.js'
import { isNews } from '../runtime/shared-state.js'

/** Set in the main thread, and so in the threads that it starts from then on. */
const key = 'sluice:end-watched.v1'

/** Tell the threads that start from now on that the main thread delivers before the end of the process. */
export function tellEndIsWatched(): void {
  if (isMainThread) setEnvironmentData(key, true)
}

const remedy =
  'a SIGTERM ends this process with the lines that the worker of pino holds: import sluice before pino, or run node --import sluice/register'
/** While the application imports this package itself, the first attempt may fail. */
const secondAttemptMs = 1000

/**
 * Make the main thread deliver before the end of the process, as after `import 'sluice'`: only that thread receives signals, and an
 * application that uses nothing but pino's target imports nothing of this package there. Where that is impossible, a line on stderr says
 * what to do.
 *
 *     pino's worker                                          main thread
 *     connect, evaluate, disconnect ── one interrupt ──────▶ an immediate loads sluice/register
 */
export function watchEndInMainThread(): void {
  if (isMainThread || getEnvironmentData(key) !== undefined || endsThreadsItself()) return
  try {
    if (runtimeIdentity().runtime !== runtimes.node) throw new Error('no inspector of the main thread')
    const { Session } = hostProcess.getBuiltinModule('node:inspector')
    const expression = expressionFor(requireOf(import.meta.url).resolve('sluice/register'))
    const session = new Session()
    // The three are one message to the main thread: it never ends with a session connected, which it would report as a debugger.
    try {
      session.connectToMainThread()
      session.post('Runtime.evaluate', { expression, silent: true })
    } finally {
      session.disconnect()
    }
  } catch {
    // The permission model, a Node.js without an inspector, another runtime, a bundle without this package beside it.
    if (isNews(remedy)) printLine(remedy)
  }
}

/** True under vitest and jest: they end threads at once, after the tests, and their main thread is not the application's. */
function endsThreadsItself(): boolean {
  return hostProcess.env.VITEST !== undefined || hostProcess.env.JEST_WORKER_ID !== undefined
}

/**
 * Evaluated in the middle of whatever the main thread does, so it only schedules: with the timers of Node.js itself, for a test may have
 * replaced the global ones. It keeps no process alive, and leaves the request in whose middle it may be.
 */
function expressionFor(file: string): string {
  return `{
    const builtin = process.getBuiltinModule
    const timers = builtin('node:timers')
    const load = (failed) => {
      const known = globalThis[Symbol.for('sluice.registry')]
      try {
        if (known) known.watchEnd()
        else builtin('node:module').createRequire(${JSON.stringify(file)})(${JSON.stringify(file)})
      } catch {
        failed()
      }
    }
    const tell = () => {
      try { builtin('node:fs').writeSync(2, ${JSON.stringify(`sluice: ${remedy}\n`)}) } catch {}
    }
    const next = timers.setImmediate(load, () => timers.setTimeout(load, ${secondAttemptMs}, tell).unref()).unref()
    for (const name of Object.getOwnPropertySymbols(next)) {
      if (${storeNames}.test(name.description)) next[name] = undefined
    }
  }`
}
