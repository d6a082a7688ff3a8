/** The code that sends a first record. */
export const snippets = {
  pino: `import pino from 'pino'

const logger = pino({ transport: { target: 'sluice/pino' } })

logger.info({ orderId: 7 }, 'order placed')`,
  winston: `import { SluiceTransport } from 'sluice/winston'
import winston from 'winston'

const logger = winston.createLogger({ transports: [new SluiceTransport()] })

logger.info('order placed', { orderId: 7 })`,
  track: `import { track } from 'sluice'

track(1001)`,
} as const
