const pino = require('pino')
const { track } = require('sluice')
const { sluicePino } = require('sluice/pino')

const logger = pino(sluicePino())

exports.placeOrder = (orderId) => {
  logger.info({ orderId }, 'order placed')
  track(1001)
}
