import { Body, Controller, Logger, type OnApplicationShutdown, Post } from '@nestjs/common'
import { track } from 'sluice'

@Controller('orders')
export class OrdersController implements OnApplicationShutdown {
  readonly #logger = new Logger(OrdersController.name)

  @Post()
  place(@Body() order: { id: number }) {
    this.#logger.log({ orderId: order.id }, 'order placed')
    track(1001)
    return order
  }

  onApplicationShutdown(signal: string) {
    this.#logger.log(`no more orders after ${signal}`)
  }
}
