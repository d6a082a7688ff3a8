import { track } from 'sluice'
import { logger } from '../logger.server'

export async function action({ request }) {
  const order = await request.json()
  logger.info({ orderId: order.id }, 'order placed')
  track(1001)
  return Response.json(order, { status: 201 })
}
