import { execFileSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { close, flush } from 'sluice'
import { SluiceTransport } from 'sluice/winston'
import { startServer } from '../support/measure.js'
import { comparePerCall, printPerCall } from '../support/per-call.js'

// The cost of a line of winston in json on the application's thread: Sluice against a transport that does nothing. Each case has a
// process of its own, since V8 optimises for the objects that it has seen.
const root = new URL('../../package.json', import.meta.url)
/** The winston beside Sluice's own winston-transport, and that of this folder, with a logform and streams of its own. */
const [one, two] = [createRequire(root), createRequire(import.meta.url)]
/** @typedef {typeof import('winston')} Winston */
// All that leaves lines out or changes them. No line is left out: that would cost less.
const volume = { sample: { debug: 0.01 }, keepForError: '200/30s' }
const redact = /** @type {const} */ ({
  keys: ['default'],
  patterns: ['card', 'email', 'bearer', 'jwt', 'url-credentials'],
})
/** @type {Record<string, { from: NodeJS.Require, options?: object, format?: (winston: Winston) => import('winston').Logform.Format }>} */
const cases = {
  'one copy of logform': { from: one },
  'one copy, volume and redact': { from: one, options: { redact, ...volume } },
  'two copies of logform': { from: two },
  'one copy, timestamp and json': {
    from: one,
    format: ({ format }) => format.combine(format.timestamp(), format.json()),
  },
}

/** @param {string} title */
async function measure(title) {
  const chosen = cases[title]
  if (chosen === undefined) throw new Error(`no such case: ${title}`)
  /** @type {Winston} */
  const winston = chosen.from('winston')
  /** @type {typeof import('winston-transport')} */
  const TransportStream = chosen.from('winston-transport')
  const format = chosen.format?.(winston) ?? winston.format.json()
  const silent = new TransportStream({
    log: (/** @type {unknown} */ _info, /** @type {() => void} */ next) => next(),
  })
  const server = await startServer()
  const logger = (/** @type {import('winston').transport} */ transport) =>
    winston.createLogger({ format, transports: [transport] })
  const log = (/** @type {import('winston').Logger} */ logger) => (/** @type {number} */ count) => {
    for (let number = 0; number < count; number++) {
      logger.info('order placed', { orderId: number, customer: 'c-17', total: 99.5 })
    }
  }
  const shipped = new SluiceTransport({ url: server.url, apiKey: 'benchmark', bucket: 'b', ...chosen.options })
  await flush()
  const medians = await comparePerCall(
    { [`${title}, discarded`]: log(logger(silent)), [`${title}, Sluice`]: log(logger(shipped)) },
    {
      calls: 2000,
      rounds: 101,
      clock: process.hrtime.bigint,
      between: async () => void (await flush({ timeoutMs: 30_000 })),
    },
  )
  printPerCall(medians, '≤ 1.3')
  await close({ timeoutMs: 30_000 })
  server.stop()
}

const [, program = '', title] = process.argv
if (title !== undefined) await measure(title)
else for (const title of Object.keys(cases)) execFileSync(process.execPath, [program, title], { stdio: 'inherit' })
