import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { contestants } from './contestants/contestants.js'
import { mark } from './contestants/order.js'
import { startServer } from './measure.js'

/**
 * @typedef {{
 *   nanosecondsPerCall: number,
 *   applicationCpu: number,
 *   cpu: number,
 *   loggedMs: number,
 *   wallMs: number,
 *   peak: number,
 *   lost: number,
 *   repeated: number,
 *   complaint: string,
 * }} Result CPU in µs per record; `loggedMs`: until all were logged; `lost` and `repeated` in records; `complaint`: the first line that it wrote to stderr
 */

/** A contestant that nothing more arrives from for this long has had its chance: longer than any flush interval among them. */
const patienceMs = 12_000

/**
 * One contestant in a process of its own, with a server of its own.
 *
 * @param {string} name
 * @param {{ records: number, perSecond?: number }} setting
 * @returns {Promise<Result>}
 */
export async function measureContestant(name, { records, ...pace }) {
  const contestant = contestants[name]
  if (contestant === undefined) throw new Error(`no such contestant: ${name}`)
  const server = contestant.server === null ? undefined : await startServer({ mark, ...contestant.server })
  const application = startApplication(name, { url: server?.url ?? '', records, ...pace })
  try {
    await application.ready
    const { startedAt, nanosecondsPerCall } = await application.order('log')
    const loggedMs = Number(process.hrtime.bigint()) / 1e6 - startedAt
    if (server === undefined) await application.order('idle')
    else await untilArrived(server, records)
    const { cpu, applicationCpu, peak } = await application.order('measure')
    await application.end()
    const totals = (await server?.report({ evenIfBusy: true }))?.totals
    return {
      nanosecondsPerCall,
      applicationCpu: applicationCpu / records,
      cpu: cpu / records,
      loggedMs,
      wallMs: totals === undefined ? Number.NaN : totals.lastAt - startedAt,
      peak,
      lost: totals === undefined ? Number.NaN : records - totals.distinct,
      repeated: totals?.repeated ?? Number.NaN,
      complaint: application.complaint(),
    }
  } finally {
    application.kill()
    server?.stop()
  }
}

/**
 * Until all have arrived, or nothing new does.
 *
 * @param {Awaited<ReturnType<typeof startServer>>} server
 * @param {number} records
 */
export async function untilArrived(server, records) {
  let requests = 0
  for (let idleSince = performance.now(); performance.now() - idleSince < patienceMs; await wait(50)) {
    const report = await server.report()
    if (report.busy || report.requests !== requests) idleSince = performance.now()
    requests = report.requests
    if ((report.totals?.distinct ?? 0) >= records) return
  }
}

/**
 * @param {string} name
 * @param {{ url: string, records: number, perSecond?: number, env?: Record<string, string> }} setting without `perSecond` it logs as fast
 *   as it can; `env`: variables of its process
 */
export function startApplication(name, { url, records, perSecond, env }) {
  const program = fileURLToPath(new URL('./contestant-process.js', import.meta.url))
  const child = fork(program, [name, url, String(records), String(perSecond ?? '')], {
    env: {
      ...process.env,
      SLUICE_URL: url,
      SLUICE_API_KEY: 'benchmark',
      SLUICE_BUCKET: 'b',
      ...contestants[name]?.env,
      ...env,
    },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  let complaint = ''
  child.stderr?.on('data', (text) => {
    if (complaint.length < 1000) complaint += text
  })
  const exited = once(child, 'exit')
  const answer = async () => {
    const [message] = await Promise.race([
      once(child, 'message'),
      exited.then(([code, signal]) => {
        throw new Error(`${name} ended with ${code ?? signal}: ${complaint}`)
      }),
    ])
    return message
  }
  return {
    pid: child.pid ?? 0,
    ready: answer(),
    /** @param {'log' | 'warmUp' | 'steady' | 'idle' | 'measure'} order */
    order: (order) => {
      const answered = answer()
      child.send(order)
      return answered
    },
    /** As its documentation says that an application ends. */
    end: async () => {
      child.send('end')
      await Promise.race([exited, wait(30_000)])
    },
    /** Log all at once, and call `process.exit(0)` behind it. */
    exit: () => {
      child.send('exit')
      return Promise.race([exited, wait(30_000)])
    },
    terminate: () => {
      child.kill('SIGTERM')
      return Promise.race([exited, wait(30_000)])
    },
    kill: () => child.kill('SIGKILL'),
    complaint: () => complaint.split('\n').find((line) => line.trim() !== '') ?? '',
  }
}
