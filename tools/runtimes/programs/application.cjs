const { pino } = require('pino')
const { track } = require('sluice')
const { sluicePino } = require('sluice/pino')
const { SluiceTransport } = require('sluice/winston')
const winston = require('winston')

// An application in CommonJS that logs in every way.
const target = pino({ transport: { target: 'sluice/pino' } })
const stream = pino(sluicePino())
const logger = winston.createLogger({ transports: [new SluiceTransport()] })
for (let number = 1; number <= 100; number++) {
  if (number <= 30) target.info(`line ${number}`)
  else if (number <= 60) stream.info(`line ${number}`)
  else logger.info(`line ${number}`)
  track(number)
}
