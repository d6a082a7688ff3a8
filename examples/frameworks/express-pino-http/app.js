// Express with pino-http: each request has its own logger, and a line when it ends.
import express from 'express'
import { pinoHttp } from 'pino-http'
import { close, track } from 'sluice'

const app = express()

app.use(pinoHttp({ transport: { target: 'sluice/pino' } }))

app.post('/orders', express.json(), (request, response) => {
  request.log.info({ orderId: request.body.id }, 'order placed')
  track(1001)
  response.status(201).json(request.body)
})

const server = app.listen(Number(process.env.PORT ?? 3000))
process.once('SIGTERM', () => {
  server.keepAliveTimeout = 1 // connections whose requests are answered meanwhile need not stay open
  server.close(() => close())
})
