// AWS Lambda: what an invocation has logged is delivered before it ends, for the process may be frozen, or gone, afterwards. With
// SLUICE_URL, SLUICE_API_KEY and SLUICE_BUCKET in the function's environment.
import pino from 'pino'
import { defineEvents, flush, track } from 'sluice'
import { sluicePino } from 'sluice/pino'

const events = defineEvents({ orderPlaced: 1001 })
const logger = pino(sluicePino())

/**
 * @param {{ orderId: number, amount: number }} order
 * @param {{ awsRequestId: string }} context
 */
export async function handler(order, { awsRequestId }) {
  const log = logger.child({ awsRequestId })
  try {
    if (!(order.amount > 0)) throw new RangeError(`expected an amount, got ${order.amount}`)
    log.info(order, 'order placed')
    track(events.orderPlaced)
    return { statusCode: 201 }
  } catch (error) {
    log.error(error, 'order refused')
    throw error
  } finally {
    await flush({ timeoutMs: 2000 })
  }
}
