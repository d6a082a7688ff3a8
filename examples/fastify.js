// fastify with its own logger: the id of the request is in every line, one line says how it ended, and each order is an event. Run with
// SLUICE_URL, SLUICE_API_KEY and SLUICE_BUCKET set.
import Fastify, { LogController } from 'fastify'
import { defineEvents, track } from 'sluice'
import { sluiceFastify } from 'sluice/fastify'
import { sluicePinoOptions } from 'sluice/pino'

const events = defineEvents({ orderPlaced: 1001 })

const logController = new LogController()
const nothing = () => {} // sluiceFastify logs one line in the place of these two
Object.assign(logController, { incomingRequest: nothing, requestCompleted: nothing })

const app = Fastify({
  logger: { ...sluicePinoOptions(), transport: { target: 'sluice/pino' } },
  logController,
})
await app.register(sluiceFastify)

app.post('/orders', async (request, reply) => {
  const order = request.body
  request.log.info({ order }, 'order placed')
  track(events.orderPlaced)
  return reply.code(201).send(order)
})

app.get('/broken', async () => {
  throw new Error('out of stock')
})

// A connection whose request is answered while app.close() waits would else stay open, for a minute.
app.addHook('onSend', async (_request, reply) => {
  if (!app.server.listening) reply.header('connection', 'close')
})
process.once('SIGTERM', () => app.close()) // closes Sluice, too

await app.listen({ port: Number(process.env.PORT ?? 3000) })
