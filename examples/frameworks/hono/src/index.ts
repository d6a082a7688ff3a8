// Hono on Node.js, with pino. `withContext` gives each line of a request its id.
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { requestId } from 'hono/request-id'
import pino from 'pino'
import { close, track, withContext } from 'sluice'
import { sluicePino } from 'sluice/pino'

const logger = pino(sluicePino())
const app = new Hono()

app.use(requestId())
app.use((context, next) => withContext({ requestId: context.get('requestId') }, next))

app.post('/orders', async (context) => {
  const order = await context.req.json<{ id: number }>()
  logger.info({ orderId: order.id }, 'order placed')
  track(1001)
  return context.json(order, 201)
})

const server = serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000) })
process.once('SIGTERM', () => {
  // Connections whose requests are answered meanwhile need not stay open. A server of HTTP/2 has no such time.
  if ('keepAliveTimeout' in server) server.keepAliveTimeout = 1
  server.close(() => close())
})
