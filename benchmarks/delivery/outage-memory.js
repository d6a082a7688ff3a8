import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { modules } from '../../tools/modules.js'
import { startApplication } from '../support/contest.js'
import { VirtualClock } from '../support/virtual-clock.js'

/** @type {typeof import('../../src/delivery/delivery.js') & typeof import('../../src/runtime/loop.js')} */
const { Delivery, systemLoop } = await modules('delivery/delivery', 'runtime/loop')

// Memory in an hour of outage, 1,000 records a second, every connection refused. Twice: delivery itself in virtual time, with every
// backoff and probe of that hour, its heap after a garbage collection; and a whole process with pino's worker, resident memory as the
// system tells it, which cannot be in virtual time: as many records, as fast as the worker takes them, 20,000/s at most.
const perSecond = 1000
const hour = 3600
const maxQueueBytes = 64 * 2 ** 20
const maxQueueRecords = 100_000
const megabytes = (/** @type {number} */ bytes) => (bytes / 1e6).toFixed(1).padStart(10)
const budget = `(budget ≤ ${megabytes(maxQueueBytes * 1.1).trim()} MB more than before, flat)`

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc')
function heap() {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** @param {number} messageBytes */
async function hourOfDelivery(messageBytes) {
  const clock = new VirtualClock()
  let attempts = 0
  const silent = { dropped() {}, rejected() {}, paused() {}, outage() {}, resumed() {}, recovered() {} }
  const delivery = new Delivery({
    lanes: [{ kind: 'logs', bucket: 'b' }],
    sender: {
      carriage: () => ({ sender: 'pipelined', maxDepth: 64 }),
      send(batch) {
        attempts += batch.length
        clock.schedule(() => {
          const refused = /** @type {const} */ ({
            type: 'retry',
            exchange: 'unsent',
            reason: 'ECONNREFUSED',
            backPressure: false,
          })
          batch.settle(0, refused, batch.length)
          batch.done()
        }, 1)
      },
      async close() {},
    },
    loop: { ...systemLoop, now: () => clock.now(), schedule: (...timer) => clock.schedule(...timer) },
    random: Math.random,
    observer: silent,
    limits: { maxQueueRecords, maxQueueBytes },
    maxConnections: 64,
    maxBatch: 64,
    lingerMs: 0,
    requestTimeoutMs: 10_000,
    retry: { baseMs: 500, capMs: 30_000 },
    probe: { baseMs: 30_000, capMs: 300_000 },
    keyPrefix: 'benchmark',
  })
  const message = 'x'.repeat(messageBytes)
  const before = heap()
  const samples = []
  for (let second = 1; second <= hour; second++) {
    for (let number = 0; number < perSecond; number++) {
      const body = JSON.stringify({ timeStamp: second, level: 'info', message: `${message} ${number}`, appName: 'a' })
      delivery.accept(0, { body, severity: /** @type {0 | 1 | 2 | 3 | 4} */ (number % 5) })
    }
    await clock.advance(1000)
    if (second % (hour / 6) === 0) samples.push(heap() - before)
  }
  const { queued } = delivery.stats()
  const closed = delivery.close({ timeoutMs: 0 })
  await clock.advance(0)
  await closed
  return { samples, queued, attempts }
}

process.stdout.write(
  `  ${'delivery, virtual time; MB more after'.padEnd(42)}${[10, 20, 30, 40, 50, 60].map((minutes) => `${minutes} min`.padStart(10)).join('')}   ${budget}\n`,
)
for (const messageBytes of [200, 2000]) {
  const { samples, queued, attempts } = await hourOfDelivery(messageBytes)
  process.stdout.write(
    `  ${`messages of ${messageBytes} bytes`.padEnd(42)}${samples.map(megabytes).join('')}   ${queued} queued, ${attempts} attempts\n`,
  )
}

const records = Number(process.env.RECORDS ?? perSecond * hour)
const pace = 20_000
/** The resident memory of the process, on Linux only. @param {number} pid */
function resident(pid) {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024
  } catch {
    return Number.NaN
  }
}

/** The most resident memory in each sixth of the time, beyond what it was before the first record. @param {string} name */
async function processMemory(name) {
  const application = startApplication(name, { url: 'http://127.0.0.1:9', records, perSecond: pace })
  await application.ready
  const before = resident(application.pid)
  const logged = application.order('log')
  let done = false
  void logged.then(() => {
    done = true
  })
  /** The worker may be slower than the pace: samples are taken all the time, and the sixths told from them afterwards. */
  /** @type {number[]} */
  const samples = []
  while (!done) {
    await wait(500)
    samples.push(resident(application.pid) - before)
  }
  application.kill()
  const end = (/** @type {number} */ sixth) => Math.ceil((samples.length * sixth) / 6)
  return [1, 2, 3, 4, 5, 6].map((sixth) => Math.max(...samples.slice(end(sixth - 1), end(sixth))))
}

process.stdout.write(
  `  ${`process, ${records} records; MB more after`.padEnd(42)}${[1, 2, 3, 4, 5, 6].map((sixth) => `${sixth}/6`.padStart(10)).join('')}   ${budget}\n`,
)
for (const name of ['pino, a worker that discards', 'Sluice: pino target']) {
  process.stdout.write(`  ${name.padEnd(42)}${(await processMemory(name)).map(megabytes).join('')}\n`)
}
