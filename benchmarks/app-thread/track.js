import { close, flush, track } from 'sluice'
import { startServer } from '../support/measure.js'
import { comparePerCall, printPerCall } from '../support/per-call.js'

// What a call of track costs the application's thread, against the one thing that it cannot do without: asking the time.
const server = await startServer()
Object.assign(process.env, { SLUICE_URL: server.url, SLUICE_API_KEY: 'benchmark', SLUICE_BUCKET: 'b' })
track(1)
await flush()

let sum = 0
const calls = 20_000
const medians = await comparePerCall(
  {
    'Date.now()': (count) => {
      for (let number = 0; number < count; number++) sum += Date.now()
    },
    'track(1001)': (count) => {
      for (let number = 0; number < count; number++) track(1001)
    },
  },
  { calls, rounds: 15, clock: process.hrtime.bigint, between: async () => void (await flush({ timeoutMs: 30_000 })) },
)
printPerCall(medians, '≤ 1.5')

const before = process.memoryUsage().heapUsed
for (let number = 0; number < calls; number++) track(1001)
process.stdout.write(`  allocated per track: ${((process.memoryUsage().heapUsed - before) / calls).toFixed(2)} bytes\n`)
if (sum === 0) throw new Error('the clock stands still')
await close({ timeoutMs: 30_000 })
server.stop()
