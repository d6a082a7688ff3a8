// Node.js alone, with its own flags for files of variables and for restarts.
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import pino from 'pino'
import { track } from 'sluice'

const logger = pino({ transport: { target: 'sluice/pino' } })

const server = createServer(async (request, response) => {
  const order = await json(request)
  logger.info({ orderId: order.id }, 'order placed')
  track(1001)
  response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(order))
})
server.listen(Number(process.env.PORT ?? 3000), () => logger.info('listening'))
