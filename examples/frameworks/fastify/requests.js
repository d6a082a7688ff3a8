// Fastify with two hooks: an id in each line of a request, one line for its end. app.close() and close() deliver what is pending.
import { randomUUID } from 'node:crypto'
import Fastify, { LogController } from 'fastify'
import { close, track, withContext } from 'sluice'
import { sluicePinoOptions } from 'sluice/pino'

const logController = new LogController()
const nothing = () => {} // the hook below logs one line in the place of these two
Object.assign(logController, { incomingRequest: nothing, requestCompleted: nothing })

const app = Fastify({
  logger: { ...sluicePinoOptions(), transport: { target: 'sluice/pino' } },
  logController,
  requestIdHeader: 'x-request-id',
  genReqId: () => randomUUID(),
})

// The lines of `request.log` have the id by themselves; with this, those of other loggers have it, too.
app.addHook('onRequest', (request, _reply, next) => withContext({ reqId: request.id }, next))

app.addHook('onResponse', (request, reply, next) => {
  const { method, url, routeOptions } = request
  const path = url.split('?')[0] // a query may have secrets
  const line = { method, route: routeOptions.url ?? path, status: reply.statusCode, durationMs: reply.elapsedTime }
  request.log[reply.statusCode < 500 ? 'info' : 'error'](line, 'request')
  next()
})

app.post('/orders', async (request, reply) => {
  request.log.info({ orderId: request.body.id }, 'order placed')
  track(1001)
  return reply.code(201).send(request.body)
})

// A connection whose request is answered while app.close() waits would else stay open, for a minute.
app.addHook('onSend', async (_request, reply) => {
  if (!app.server.listening) reply.header('connection', 'close')
})
process.once('SIGTERM', () => app.close().then(() => close()))

await app.listen({ port: Number(process.env.PORT ?? 3000) })
