// A process per core, each with its own logger and its own delivery. Run with SLUICE_URL, SLUICE_API_KEY and SLUICE_BUCKET set.
import cluster from 'node:cluster'
import { createServer } from 'node:http'
import { availableParallelism } from 'node:os'
import { json } from 'node:stream/consumers'
import pino from 'pino'
import { track } from 'sluice'

const orderPlaced = 1001
const worker = cluster.worker?.id
const logger = pino({ transport: { target: 'sluice/pino' } }).child({ worker })

if (cluster.isPrimary) {
  const processes = Number(process.env.PROCESSES ?? availableParallelism())
  for (let number = 0; number < processes; number++) cluster.fork()
  cluster.on('exit', ({ id, exitedAfterDisconnect }, code, signal) => {
    if (exitedAfterDisconnect) return
    logger.error({ died: id, code, signal }, 'a worker has died')
    cluster.fork()
  })
  process.once('SIGTERM', () => cluster.disconnect())
} else {
  const server = createServer(async (request, response) => {
    const order = await json(request)
    logger.info({ order }, 'order placed')
    track(orderPlaced)
    if (!server.listening) response.setHeader('connection', 'close') // so that the process need not wait for it to end
    response.end(`thank you, says worker ${worker}\n`)
  })
  server.listen(Number(process.env.PORT ?? 3000))
  process.on('SIGTERM', () => {}) // the primary ends its workers, also where the signal goes to all of them, as with systemd
}
