// Fastify with Sluice's plugin: an id in each line of a request, one line for its end, and app.close() delivers what is pending.
import Fastify, { LogController } from 'fastify'
import { track } from 'sluice'
import { sluiceFastify } from 'sluice/fastify'
import { sluicePinoOptions } from 'sluice/pino'

const logController = new LogController()
const nothing = () => {} // the plugin has one line for each request in the place of these two
Object.assign(logController, { incomingRequest: nothing, requestCompleted: nothing })

const app = Fastify({
  logger: { ...sluicePinoOptions(), transport: { target: 'sluice/pino' } },
  logController,
})
await app.register(sluiceFastify)

app.post('/orders', async (request, reply) => {
  request.log.info({ orderId: request.body.id }, 'order placed')
  track(1001)
  return reply.code(201).send(request.body)
})

// A connection whose request is answered while app.close() waits would else stay open, for a minute.
app.addHook('onSend', async (_request, reply) => {
  if (!app.server.listening) reply.header('connection', 'close')
})
process.once('SIGTERM', () => app.close())

await app.listen({ port: Number(process.env.PORT ?? 3000) })
