// pino without a worker of its own: in bundles, and beside streams of this process. Run with SLUICE_URL, SLUICE_API_KEY and SLUICE_BUCKET
// set.
import pino from 'pino'
import { sluicePino } from 'sluice/pino'

const streams = pino.multistream([{ stream: sluicePino() }, { level: 'error', stream: process.stdout }])
const logger = pino({}, streams) // pino takes a multistream for options when it is alone

logger.info({ orderId: 7 }, 'order placed')
logger.error(new Error('card declined'), 'payment failed')
