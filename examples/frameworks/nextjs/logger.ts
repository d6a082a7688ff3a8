import pino from 'pino'
import { sluicePino } from 'sluice/pino'

export const logger = pino(sluicePino())
