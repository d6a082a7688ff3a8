// pino with every error kept. Run with SLUICE_URL, SLUICE_API_KEY and SLUICE_BUCKET set.
import pino from 'pino'
import { sluicePinoOptions } from 'sluice/pino'

const logger = pino({ ...sluicePinoOptions(), transport: { target: 'sluice/pino' } })

const error = new Error('card declined', { cause: new Error('insufficient funds') })
logger.error({ orderId: 7, error }, 'payment failed')
logger.warn({ attempts: [{ reason: error }] }, 'gave up')
