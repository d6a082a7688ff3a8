import { close, flush } from 'sluice'
import { SluiceTransport } from 'sluice/winston'
import winston from 'winston'
import TransportStream from 'winston-transport'
import { startServer } from '../support/measure.js'
import { comparePerCall, printPerCall } from '../support/per-call.js'

// The cost of a line of winston in its default json format on the application's thread: Sluice against a transport that does nothing.
const server = await startServer()
const silent = new TransportStream({
  log: (/** @type {unknown} */ _info, /** @type {() => void} */ next) => next(),
})
const nothing = winston.createLogger({ transports: [silent] })
const shipped = winston.createLogger({
  transports: [new SluiceTransport({ url: server.url, apiKey: 'benchmark', bucket: 'b' })],
})
const log = (/** @type {winston.Logger} */ logger) => (/** @type {number} */ count) => {
  for (let number = 0; number < count; number++) {
    logger.info('order placed', { orderId: number, customer: 'c-17', total: 99.5 })
  }
}
await flush()
const medians = await comparePerCall(
  { 'a transport that does nothing': log(nothing), Sluice: log(shipped) },
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
