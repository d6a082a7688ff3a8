import { clients } from './clients.js'
import { pinoTargets } from './pino-targets.js'
import { sluice } from './sluice.js'
import { winstonTransports } from './winston-transports.js'

/** The contestants, by the name that the table shows. @type {Record<string, import('./order.js').Contestant>} */
export const contestants = { ...sluice, ...pinoTargets, ...winstonTransports, ...clients }
