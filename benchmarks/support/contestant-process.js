import { readFileSync } from 'node:fs'
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises'
import { contestants } from './contestants/contestants.js'
import { median } from './per-call.js'
import { measureSteadily, warmUp } from './steady-rate.js'

// An application that logs through one contestant: `perTurn` records in each turn of its event loop, as fast as it can, or at a steady
// rate and waiting where a worker falls behind. The parent says when to begin, when the last record has arrived, and when to end.
const [name = '', url = '', records = '100000', perSecond = ''] = process.argv.slice(2)
const perTurn = 100

/** CPU in µs: of the whole process, and of the thread of the application, where Linux tells it. */
function cpuTime() {
  const { user, system } = process.cpuUsage()
  return { whole: user + system, application: applicationTime() }
}

function applicationTime() {
  try {
    const [nanoseconds = ''] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')
    return Number(nanoseconds) / 1000
  } catch {
    return Number.NaN
  }
}

/** The largest resident memory so far, in bytes. What getrusage says includes what the parent had when it started this process. */
function peakMemory() {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024
  } catch {
    return process.resourceUsage().maxRSS * 1024
  }
}

/** Until no thread of this process has anything more to do. */
async function idle() {
  for (let before = 0; ; ) {
    const { whole } = cpuTime()
    if (whole - before < 2000) return
    before = whole
    await wait(100)
  }
}

const subject = await contestants[name]?.start(url)
if (subject === undefined) throw new Error(`no such contestant: ${name}`)
await wait(300)
await idle()
const before = cpuTime()

/** @type {Record<string, () => Promise<unknown>>} */
const orders = {
  async log() {
    const startedAt = process.hrtime.bigint()
    /** @type {number[]} */
    const turns = []
    for (let number = 0; number < Number(records); ) {
      const until = Math.min(number + perTurn, Number(records))
      const calls = until - number
      const from = process.hrtime.bigint()
      while (number < until) subject.log(number++)
      turns.push(Number(process.hrtime.bigint() - from) / calls)
      if (perSecond !== '') await subject.room?.()
      const aheadMs = perSecond === '' ? 0 : (number * 1000) / Number(perSecond) - Number(from - startedAt) / 1e6
      await (aheadMs > 1 ? wait(aheadMs) : turn())
    }
    return { startedAt: Number(startedAt) / 1e6, nanosecondsPerCall: median(turns) }
  },
  warmUp: () => warmUp(subject.log),
  steady: () => measureSteadily(subject.log, { perSecond: Number(perSecond), records: Number(records) }),
  async exit() {
    for (let number = 0; number < Number(records); number++) subject.log(number)
    process.exit(0)
  },
  async idle() {
    await idle()
  },
  async measure() {
    const now = cpuTime()
    return { cpu: now.whole - before.whole, applicationCpu: now.application - before.application, peak: peakMemory() }
  },
  async end() {
    await subject.close?.()
    process.exit(0)
  },
}
process.on('message', async (/** @type {string} */ order) => process.send?.((await orders[order]?.()) ?? {}))
process.on('disconnect', () => process.exit(1))
process.send?.({})
