import { close, flush, track } from 'sluice'
import { startServer } from '../support/measure.js'
import { comparePerCall, median, printPerCall } from '../support/per-call.js'

// The cost of a call of track on the application's thread, against its least part: reading the time.
const server = await startServer()
Object.assign(process.env, { SLUICE_URL: server.url, SLUICE_API_KEY: 'benchmark', SLUICE_BUCKET: 'b' })
track(1)
await flush()

// The first call after a flush listens to signals again, which takes 0.1 ms: it is not of the loop.
const settled = async () => {
  await flush({ timeoutMs: 30_000 })
  track(1)
}
const turn = () => /** @type {Promise<void>} */ (new Promise((resolve) => setImmediate(resolve)))
// A typed array keeps the time without an object of its own, as Sluice does.
const times = new Float64Array(1)
const calls = 20_000
const contestants = {
  'Date.now()': (/** @type {number} */ count) => {
    for (let number = 0; number < count; number++) times[0] = Date.now()
  },
  'track(1001)': (/** @type {number} */ count) => {
    for (let number = 0; number < count; number++) track(1001)
  },
}
const clock = process.hrtime.bigint
process.stdout.write('in a loop\n')
printPerCall(await comparePerCall(contestants, { calls, rounds: 15, clock, between: settled }), '≤ 1.2')
process.stdout.write('a hundred in each turn\n')
printPerCall(await comparePerCall(contestants, { calls: 100, rounds: 300, clock, between: turn }), '≤ 1.5')
await settled()

// In a burst that fills the ring, calls hand over what it holds: what a microtask does otherwise, once for each turn.
const { 'track(1001)': burst } = await comparePerCall(contestants, { calls: 200_000, rounds: 5, between: settled })
process.stdout.write(
  `  ${'the same with the hand-over, in one burst'.padEnd(44)}${burst?.nanoseconds.toFixed(0).padStart(10)}\n`,
)

// The code is optimised by now. A window in which the garbage collector ran is an outlier that the median leaves out.
process.stdout.write(`  ${'allocated'.padEnd(44)}${'bytes'.padStart(10)}${''.padStart(8)}   (budget none of its own)\n`)
for (const [name, run] of Object.entries(contestants)) {
  const windows = []
  for (let round = 0; round < 9; round++) {
    const before = process.memoryUsage().heapUsed
    run(calls)
    windows.push((process.memoryUsage().heapUsed - before) / calls)
    await settled()
  }
  process.stdout.write(`  ${name.padEnd(44)}${median(windows).toFixed(1).padStart(10)}\n`)
}
await close({ timeoutMs: 30_000 })
server.stop()
