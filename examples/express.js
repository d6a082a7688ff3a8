// express with winston: the id of the request is in every line, one line says how it ended, and each order is an event. Run with
// SLUICE_URL, SLUICE_API_KEY and SLUICE_BUCKET set.
import { randomUUID } from 'node:crypto'
import express from 'express'
import { close, defineEvents, track, withContext } from 'sluice'
import { SluiceTransport } from 'sluice/winston'
import winston from 'winston'

const events = defineEvents({ orderPlaced: 1001 })
const logger = winston.createLogger({ transports: [new SluiceTransport()] })
const app = express()

app.use((request, response, next) => {
  const startedAt = performance.now()
  const requestId = request.get('x-request-id') ?? randomUUID()
  response.once('close', () => {
    const path = request.originalUrl.split('?')[0] // a query may have secrets
    const aborted = !response.writableFinished // the client went away first
    const durationMs = Math.round(performance.now() - startedAt)
    const status = response.statusCode
    const line = { requestId, method: request.method, path, status, aborted, durationMs }
    logger.log(status < 500 ? 'info' : 'error', 'request', line)
  })
  withContext({ requestId }, next)
})

app.post('/orders', express.json(), (request, response) => {
  logger.info('order placed', { order: request.body })
  track(events.orderPlaced)
  response.status(201).json(request.body)
})

app.get('/broken', () => {
  throw new Error('out of stock')
})

/** @type {express.ErrorRequestHandler} */
const failed = (error, request, response, next) => {
  logger.error('request failed', { url: request.originalUrl, error })
  if (response.headersSent) next(error)
  else response.status(error.status ?? 500).json({ error: 'the request failed' })
}
app.use(failed)

const server = app.listen(Number(process.env.PORT ?? 3000))
process.once('SIGTERM', () => {
  server.keepAliveTimeout = 1 // connections whose requests are answered meanwhile need not stay open
  server.close(() => close())
})
