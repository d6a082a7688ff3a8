// A server that `vite build --ssr` builds. Vite leaves packages outside of the bundle: install them where it runs.
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import pino from 'pino'
import { close, track } from 'sluice'
import { sluicePino } from 'sluice/pino'

const logger = pino(sluicePino())

const server = createServer(async (request, response) => {
  const order = /** @type {{ id: number }} */ (await json(request))
  logger.info({ orderId: order.id }, 'order placed')
  track(1001)
  response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(order))
}).listen(Number(process.env.PORT ?? 3000))

process.once('SIGTERM', () => {
  // Connections whose requests are answered meanwhile need not stay open.
  server.keepAliveTimeout = 1
  server.close(() => close())
})
