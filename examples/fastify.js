// fastify with its own logger, and an event for each order. Run with SLUICE_URL, SLUICE_API_KEY and SLUICE_BUCKET set.
import Fastify from 'fastify'
import { close, defineEvents, track } from 'sluice'

const events = defineEvents({ orderPlaced: 1001 })

const app = Fastify({ logger: { transport: { target: 'sluice/pino' } } })

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
process.once('SIGTERM', async () => {
  await app.close()
  await close()
})

await app.listen({ port: Number(process.env.PORT ?? 3000) })
