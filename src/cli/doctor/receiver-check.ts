import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readObject } from '../../http/answer-body.js'
import { maxBodyBytes } from '../../http/request-head.js'
import { UndiciPool } from '../../http/undici-pool.js'
import type { ResolvedOptions } from '../../options/options.js'
import { systemLoop } from '../../runtime/loop.js'
import { userAgent } from '../../runtime/version.js'
import { inTime } from './deadline.js'
import { type Finding, good, skipped } from './finding.js'
import type { CheckPlan } from './network-checks.js'

/** Find out whether the service is a receiver: its health says so. No key is sent. */
export async function checkReceiver({ url }: ResolvedOptions, { route, ms }: CheckPlan): Promise<Finding> {
  const { origin, pathname } = new URL(url)
  const plan = { origin, maxConnections: 1, requestTimeoutMs: ms, maxBodyBytes, loop: systemLoop }
  const pool = new UndiciPool({ ...plan, proxyUrl: route.proxyUrl })
  const headers = { accept: 'application/json', 'user-agent': userAgent }
  const path = `${pathname.replace(/\/+$/, '')}/api/health`
  try {
    const asked = await inTime(() => pool.exchange({ method: 'GET', path, headers }), { ms: 2 * ms + 100 })
    const body = asked.type === 'done' && asked.result.type !== 'broken' ? asked.result.answer.body : ''
    const { name, version } = readObject(body) ?? {}
    if (name !== 'sluice-receiver') return skipped('receiver', `none answers at ${url}: it is another service`)
    return good('receiver', `sluice-receiver ${version} runs at ${url}`)
  } finally {
    await pool.destroy()
  }
}

/** Tell whether a receiver runs on the data folder that `npx sluice-receiver` uses in this folder. */
export function receiverHere(folder: string): Finding {
  const place = './sluice-data'
  const data = join(folder, 'sluice-data')
  const pid = pidIn(join(data, 'receiver.pid'))
  if (pid !== undefined) {
    const toDo =
      'npx sluice-receiver run -- node app.js sends the records of a program there, npx sluice-receiver logs prints them'
    return good('receiver', `one runs on ${place} (process ${pid}): ${toDo}`)
  }
  const records = existsSync(data) ? `none runs on ${place}` : 'none runs here'
  return skipped(
    'receiver',
    `${records}: npx sluice-receiver starts one, npx sluice-receiver run -- node app.js with your program`,
  )
}

/** The process that has the folder, if it lives. */
function pidIn(file: string): number | undefined {
  let pid = 0
  try {
    pid = Number.parseInt(readFileSync(file, 'utf8'), 10)
    // Asks for its life, and sends no signal. 0 would mean this process.
    return pid > 0 && process.kill(pid, 0) ? pid : undefined
  } catch (error) {
    // A process of another user lives.
    return (error as NodeJS.ErrnoException).code === 'EPERM' ? pid : undefined
  }
}
