import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { close, flush } from 'sluice'
import { startServer } from '../support/measure.js'
import { comparePerCall, printPerCall } from '../support/per-call.js'

// The cost of a line of pino on the application's thread: Sluice in pino's worker against a worker that discards.
const server = await startServer()
const discard = join(tmpdir(), `discard-${process.pid}.mjs`)
writeFileSync(
  discard,
  "import { Writable } from 'node:stream'\nexport default () => new Writable({ write: (_c, _e, done) => done() })\n",
)

const nothing = pino({ transport: { target: discard } })
const options = { url: server.url, apiKey: 'benchmark', bucket: 'b' }
const shipped = pino({ transport: { target: 'sluice/pino', options } })
// All that leaves lines out or changes them. No line is left out: that would cost less.
const volume = { sample: { debug: 0.01 }, keepForError: '200/30s' }
const redact = { keys: ['default'], patterns: ['card', 'email', 'bearer', 'jwt', 'url-credentials'] }
const everything = pino({
  transport: { target: 'sluice/pino', options: { ...options, level: 'info', redact, ...volume } },
})
const log = (/** @type {pino.Logger} */ logger) => (/** @type {number} */ count) => {
  for (let number = 0; number < count; number++)
    logger.info({ orderId: number, customer: 'c-17', total: 99.5 }, 'order placed')
}
await flush()
const medians = await comparePerCall(
  {
    'a worker that discards': log(nothing),
    Sluice: log(shipped),
    'Sluice, with volume and redact': log(everything),
  },
  { calls: 5000, rounds: 21, between: async () => void (await flush({ timeoutMs: 30_000 })) },
)
printPerCall(medians, '≤ 1.05')
await close({ timeoutMs: 30_000 })
server.stop()
