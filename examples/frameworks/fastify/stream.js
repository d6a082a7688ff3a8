// Fastify's own logger, with the stream that needs no worker of pino's.
import Fastify from 'fastify'
import { sluicePino } from 'sluice/pino'

const app = Fastify({ logger: { stream: sluicePino() } })

app.post('/orders', async (request, reply) => {
  request.log.info({ orderId: request.body.id }, 'order placed')
  return reply.code(201).send(request.body)
})

await app.listen({ port: Number(process.env.PORT ?? 3000) })
