// express with winston: the id of the request is in every line, one line says how it ended, and each order is an event. Run with
// SLUICE_URL, SLUICE_API_KEY and SLUICE_BUCKET set.
import express from 'express'
import { close, defineEvents, track } from 'sluice'
import { sluiceExpress } from 'sluice/express'
import { SluiceTransport } from 'sluice/winston'
import winston from 'winston'

const events = defineEvents({ orderPlaced: 1001 })
const logger = winston.createLogger({ transports: [new SluiceTransport()] })
const app = express()

app.use(sluiceExpress({ logger }))

app.post('/orders', express.json(), (request, response) => {
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
