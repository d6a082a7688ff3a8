// pino to several destinations, each with its own level: the service, and stdout. Run with SLUICE_URL, SLUICE_API_KEY and SLUICE_BUCKET
// set.
import pino from 'pino'

const transport = pino.transport({
  targets: [
    { target: 'sluice/pino', level: 'info' },
    { target: 'pino/file', level: 'debug', options: { destination: 1 } },
  ],
})
const logger = pino({ level: 'debug' }, transport)

logger.debug('looked up the price')
logger.info({ orderId: 7 }, 'order placed')
