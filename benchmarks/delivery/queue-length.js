import { modules } from '../../tools/modules.js'
import { perRecord } from '../support/measure.js'

/** @type {typeof import('../../src/delivery/delivery.js') & typeof import('../../src/runtime/loop.js')} */
const { Delivery, systemLoop } = await modules('delivery/delivery', 'runtime/loop')

// Does a record cost the same whatever number waits before it? Fill the queue while the service is held up, let it drain, and shed
// from a full one; CPU per record at a thousand and at a million.
const silent = { dropped() {}, rejected() {}, paused() {}, outage() {}, resumed() {}, recovered() {} }

/** @param {number} waiting */
async function measure(waiting) {
  let letGo = () => {}
  const held = new Promise((resolve) => {
    letGo = () => resolve(undefined)
  })
  const delivery = new Delivery({
    lanes: [{ kind: 'logs', bucket: 'b' }],
    sender: {
      carriage: () => ({ sender: 'undici', maxDepth: 64 }),
      async send(batch) {
        await held
        batch.settle(0, { type: 'delivered' }, batch.length)
        batch.done()
      },
      async close() {},
    },
    loop: systemLoop,
    random: Math.random,
    observer: silent,
    limits: { maxQueueRecords: waiting, maxQueueBytes: 2 ** 40 },
    maxConnections: 64,
    maxBatch: 64,
    lingerMs: 0,
    requestTimeoutMs: 10_000,
    retry: { baseMs: 500, capMs: 30_000 },
    probe: { baseMs: 30_000, capMs: 300_000 },
    keyPrefix: 'benchmark',
  })
  const body = JSON.stringify({ timeStamp: Date.now(), level: 'info', message: 'x'.repeat(150), appName: 'benchmark' })
  const accept = async (/** @type {number} */ count) => {
    for (let number = 0; number < count; number++) {
      delivery.accept(0, { body, severity: /** @type {0 | 1 | 2 | 3 | 4} */ (number % 5) })
    }
  }
  const rounds = Math.max(1, Math.floor(1_000_000 / waiting))
  const fill = await perRecord(waiting, () => accept(waiting))
  const shed = await perRecord(waiting, () => accept(waiting))
  letGo()
  const drain = await perRecord(waiting, async () => {
    await delivery.flush({ timeoutMs: 600_000 })
  })
  // Small queues are too quick for one measurement: go round as often as a million records take.
  const round = await perRecord(waiting * (rounds - 1) || 1, async () => {
    for (let number = 1; number < rounds; number++) {
      await accept(waiting)
      await delivery.flush({ timeoutMs: 600_000 })
    }
  })
  await delivery.close({ timeoutMs: 0 })
  return { fill, shed, drain, whole: rounds === 1 ? { cpu: fill.cpu + drain.cpu } : round }
}

await measure(100_000)
process.stdout.write(
  `  ${'waiting'.padStart(9)}${'accept'.padStart(10)}${'shed'.padStart(10)}${'drain'.padStart(10)}${'accept + drain'.padStart(16)}  CPU µs/record\n`,
)
for (const waiting of [1000, 10_000, 100_000, 1_000_000]) {
  const { fill, shed, drain, whole } = await measure(waiting)
  const cells = [fill, shed, drain].map(({ cpu }) => cpu.toFixed(2).padStart(10))
  process.stdout.write(`  ${String(waiting).padStart(9)}${cells.join('')}${whole.cpu.toFixed(2).padStart(16)}\n`)
}
