// Fastify's own logger, with pino's target. Nothing here imports `sluice`, so `npm start` does it by --import sluice/register.
import Fastify from 'fastify'

const app = Fastify({ logger: { transport: { target: 'sluice/pino' } } })

app.post('/orders', async (request, reply) => {
  request.log.info({ orderId: request.body.id }, 'order placed')
  return reply.code(201).send(request.body)
})

await app.listen({ port: Number(process.env.PORT ?? 3000) })
