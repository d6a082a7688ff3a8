import { once } from 'node:events'
import pino from 'pino'
import { chromium } from 'playwright-core'
import { sluicePino } from 'sluice/pino'
import { median } from '../support/per-call.js'
import { startReceiverProcess } from '../support/receiver-process.js'

// The page in Debian's chromium while a pino logger writes 1,000 lines/s: the first paint, frames, rows of the document and memory.
// DURATION_MS=600000 for ten minutes.
const durationMs = Number(process.env.DURATION_MS ?? 60_000)
const linesPerTurn = 100
const turnMs = 100
const samples = 10
const visits = 11
/** The list is full, so that memory grows no more by what it holds. */
const warmUpLines = 20_000

const { url, apiKey, page: address, stop } = await startReceiverProcess(['--json', '--port', '0', '--data', ':memory:'])
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
})
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
await page.goto(address)

const paints = []
for (let visit = 0; visit < visits; visit++) {
  await page.goto('about:blank')
  await page.goto(url)
  await page.getByRole('main').waitFor()
  paints.push(await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0))
}
process.stdout.write(
  `  first paint: ${median(paints).toFixed(0)} ms, at most ${Math.max(...paints).toFixed(0)} (budget 300)\n`,
)

const stream = sluicePino({ url, apiKey, bucket: 'demo', appName: 'shop', env: 'benchmark' })
const logger = pino({ level: 'trace' }, stream)
const levels = /** @type {const} */ (['debug', 'info', 'info', 'info', 'warn', 'error'])
let lines = 0
const turn = setInterval(() => {
  for (let line = 0; line < linesPerTurn; line++) {
    const orderId = `o${(lines * 7919) % 100_003}`
    logger[levels[lines++ % levels.length] ?? 'info']({ orderId, ms: lines % 300 }, 'GET /orders/%s answered', orderId)
  }
}, turnMs)

const devtools = await page.context().newCDPSession(page)
async function heapBytes() {
  await devtools.send('HeapProfiler.collectGarbage')
  return (await devtools.send('Runtime.getHeapUsage')).usedSize
}

/** Frames of each second. @param {number} seconds */
function frames(seconds) {
  return page.evaluate(
    (seconds) =>
      new Promise((/** @type {(counts: number[]) => void} */ resolve) => {
        /** @type {number[]} */
        const counts = []
        const { requestAnimationFrame } = /** @type {any} */ (globalThis)
        const startedAt = performance.now()
        const frame = () => {
          const second = Math.floor((performance.now() - startedAt) / 1000)
          if (second >= seconds) return resolve(counts)
          counts[second] = (counts[second] ?? 0) + 1
          requestAnimationFrame(frame)
        }
        requestAnimationFrame(frame)
      }),
    seconds,
  )
}

await page.locator('[role=table][aria-rowcount]').waitFor()
while (lines < warmUpLines) await frames(1)
process.stdout.write(
  `  ${'after'.padEnd(10)}${'lines'.padStart(10)}${'frames/s'.padStart(10)}${'fewest'.padStart(8)}${'rows'.padStart(6)}${'heap MB'.padStart(9)}\n`,
)
const startedAt = performance.now()
for (let sample = 0; sample < samples; sample++) {
  const counts = await frames(Math.max(2, Math.round(durationMs / 1000 / samples) - 1))
  const rows = await page.locator('[role=row][data-id]').count()
  const heap = (await heapBytes()) / 1e6
  process.stdout.write(
    `  ${`${((performance.now() - startedAt) / 1000).toFixed(0)} s`.padEnd(10)}${String(lines).padStart(10)}${median(counts).toFixed(0).padStart(10)}${String(Math.min(...counts)).padStart(8)}${String(rows).padStart(6)}${heap.toFixed(1).padStart(9)}\n`,
  )
}
process.stdout.write('  (budgets: 50 frames/s, 300 rows, memory that does not grow)\n')
clearInterval(turn)
stream.end()
await once(stream, 'close')
await browser.close()
await stop()
