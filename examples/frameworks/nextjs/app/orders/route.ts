import { track } from 'sluice'
import { logger } from '../../logger'

export async function POST(request: Request) {
  const order = (await request.json()) as { id: number }
  logger.info({ orderId: order.id }, 'order placed')
  track(1001)
  return Response.json(order, { status: 201 })
}
