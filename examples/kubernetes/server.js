// A pod that ends without losing a request or a record: on SIGTERM it stops listening, answers what it has, and delivers, for
// DRAIN_SECONDS and SLUICE_SHUTDOWN_TIMEOUT_MS at most, whatever clients and the service do. deployment.yaml beside it has the times.
import { setImmediate } from 'node:timers/promises'
import Fastify from 'fastify'
import { close, track } from 'sluice'

const { PORT = 3000, DRAIN_SECONDS = 15 } = process.env
const orderPlaced = 1001

const app = Fastify({ logger: { transport: { target: 'sluice/pino' } } })
app.get('/healthz', { logLevel: 'warn' }, async () => ({ status: 'ok' }))
app.post('/orders', async (request, reply) => {
  request.log.info({ order: request.body }, 'order placed')
  track(orderPlaced)
  return reply.code(201).send(request.body)
})
// A connection whose request is answered while app.close() waits would else stay open, for a minute.
app.addHook('onSend', async (_request, reply) => {
  if (!app.server.listening) reply.header('connection', 'close')
})

process.once('SIGTERM', async () => {
  app.log.info('stopping')
  setTimeout(() => {
    app.log.warn('requests that do not end are cut off')
    app.server.closeAllConnections()
  }, Number(DRAIN_SECONDS) * 1000)
  await app.close()
  await setImmediate() // requests that were cut off log their end when the server has closed
  app.log.info('stopped')
  await close()
  process.exit() // whatever handlers still wait for
})

await app.listen({ host: '0.0.0.0', port: Number(PORT) })
