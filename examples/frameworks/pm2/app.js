// One of pm2's processes. pm2 ends it with SIGINT.
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import pino from 'pino'
import { close, track } from 'sluice'

const logger = pino({ transport: { target: 'sluice/pino' } })

const server = createServer(async (request, response) => {
  const order = await json(request)
  logger.info({ orderId: order.id }, 'order placed')
  track(1001)
  response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(order))
})
server.listen(Number(process.env.PORT ?? 3000), () => process.send?.('ready'))

process.once('SIGINT', () => {
  logger.info('no more orders')
  server.close(async () => {
    await close()
    process.exit()
  })
})
