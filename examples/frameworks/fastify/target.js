// Fastify's own logger, with pino's target. Nothing here imports `sluice`: pino's worker loads it in the main thread. `npm start` does it
// earlier by --import sluice/register, for a SIGTERM in the first tenths of a second.
import Fastify from 'fastify'

const app = Fastify({ logger: { transport: { target: 'sluice/pino' } } })

app.post('/orders', async (request, reply) => {
  request.log.info({ orderId: request.body.id }, 'order placed')
  return reply.code(201).send(request.body)
})

await app.listen({ port: Number(process.env.PORT ?? 3000) })
