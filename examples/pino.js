// pino: one line of configuration. Run with SLUICE_URL, SLUICE_API_KEY and SLUICE_BUCKET set.
import pino from 'pino'

const logger = pino({ transport: { target: 'sluice/pino' } })

const request = logger.child({ requestId: 'r-1' })
request.info({ orderId: 7 }, 'order placed')
request.error(new Error('card declined', { cause: new Error('insufficient funds') }), 'payment failed')
