// One executable file, by `bun build --compile`. There is no file of a worker in it: SLUICE_MODE=inline delivers in the main thread.
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import pino from 'pino'
import { track } from 'sluice'
import { sluicePino } from 'sluice/pino'
import { SluiceTransport } from 'sluice/winston'
import winston from 'winston'

const logger = pino(sluicePino())
const audit = winston.createLogger({ transports: [new SluiceTransport()] })

const server = createServer(async (request, response) => {
  const order = await json(request)
  logger.info({ orderId: order.id }, 'order placed')
  audit.info('order audited')
  track(1001)
  response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(order))
})
server.listen(Number(process.env.PORT ?? 3000))
