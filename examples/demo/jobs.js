import { track } from 'sluice'
import { SluiceTransport } from 'sluice/winston'
import winston from 'winston'
import { events } from './events.js'

/** A job runner that logs with winston; it shares one delivery with `track`. */
export function startJobs() {
  const logger = winston.createLogger({
    level: 'debug',
    format: winston.format.json(),
    defaultMeta: { component: 'jobs' },
    transports: [new SluiceTransport()],
  })
  let run = 0
  const timer = setInterval(() => {
    run++
    logger.debug('job started', { run })
    if (run % 7 === 0) {
      logger.error(
        'report could not be rendered',
        new Error('template missing', { cause: new Error('ENOENT report.hbs') }),
      )
      return
    }
    if (run % 2 === 0) {
      logger.info('stock replenished', { run, products: run % 5 })
      track(events.stockReplenished)
    } else {
      logger.log({ level: 'warn', message: 'report sent late', run, eventId: events.reportSent })
      track(events.reportSent)
    }
  }, 20)
  return { stop: () => clearInterval(timer) }
}
