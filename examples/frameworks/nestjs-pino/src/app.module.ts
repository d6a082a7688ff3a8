import { Module } from '@nestjs/common'
import { LoggerModule } from 'nestjs-pino'
import { OrdersController } from './orders.controller.js'

@Module({
  imports: [LoggerModule.forRoot({ pinoHttp: { transport: { target: 'sluice/pino' } } })],
  controllers: [OrdersController],
})
export class AppModule {}
