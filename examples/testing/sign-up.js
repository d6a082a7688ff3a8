// The application: what sign-up.test.js beside it tests.
import { track } from 'sluice'
import { SluiceTransport } from 'sluice/winston'
import winston from 'winston'

export const signedUp = 1001

const logger = winston.createLogger({ transports: [new SluiceTransport()] })

/** @param {string} name */
export function signUp(name) {
  if (name === '') {
    logger.warn('sign-up without a name')
    return false
  }
  track(signedUp)
  logger.info('signed up', { name })
  return true
}
