import { monitorEventLoopDelay } from 'node:perf_hooks'
import pino from 'pino'
import { track } from 'sluice'
import { SluiceTransport } from 'sluice/winston'
import winston from 'winston'

// An application that logs or tracks at a steady rate, in small slices of its event loop, and prints the delay of that loop in ms.
// Its service is what SLUICE_URL says.
const [contestant = '', seconds = '2', perSecond = '5000'] = process.argv.slice(2)
const sliceMs = 2
const warmUpMs = 700

/** @type {Record<string, () => (number: number) => void>} */
const contestants = {
  nothing: () => () => {},
  'pino to /dev/null': () => logLines(pino(pino.destination({ dest: '/dev/null', sync: true }))),
  'pino target': () => logLines(pino({ transport: { target: 'sluice/pino' } })),
  'winston transport': () => {
    const logger = winston.createLogger({ transports: [new SluiceTransport()] })
    return (number) => logger.info('order placed', { orderId: number, customer: 'c-17', total: 99.5 })
  },
  track: () => () => track(1001),
}

/** @param {import('pino').Logger} logger */
function logLines(logger) {
  return (/** @type {number} */ number) =>
    logger.info({ orderId: number, customer: 'c-17', total: 99.5 }, 'order placed')
}

const one = contestants[contestant]?.()
if (one === undefined) throw new Error(`no such contestant: ${contestant}`)
const startedAt = performance.now()
let done = 0
const timer = setInterval(() => {
  const due = ((performance.now() - startedAt) * Number(perSecond)) / 1000
  while (done < due) one(done++)
}, sliceMs)

const delay = monitorEventLoopDelay({ resolution: 1 })
setTimeout(() => delay.enable(), warmUpMs)
setTimeout(
  () => {
    delay.disable()
    clearInterval(timer)
    const figures = { p50: delay.percentile(50) / 1e6, p99: delay.percentile(99) / 1e6, lines: done }
    process.stdout.write(`${JSON.stringify(figures)}\n`, () => process.kill(process.pid, 'SIGKILL'))
  },
  warmUpMs + Number(seconds) * 1000,
)
