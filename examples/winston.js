// winston: a transport beside those that are there. Run with SLUICE_URL, SLUICE_API_KEY and SLUICE_BUCKET set.
import { SluiceTransport } from 'sluice/winston'
import winston from 'winston'

const logger = winston.createLogger({
  format: winston.format.json(),
  transports: [new SluiceTransport(), new winston.transports.Console()],
})

logger.info('order placed', { orderId: 7 })
logger.error('payment failed', new Error('card declined'))
