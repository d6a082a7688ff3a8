import { NestFactory } from '@nestjs/core'
import { WinstonModule } from 'nest-winston'
import { SluiceTransport } from 'sluice/winston'
import winston from 'winston'
import { AppModule } from './app.module.js'
import { requestLines } from './requests.js'

const logger = winston.createLogger({ transports: [new SluiceTransport()] })

async function bootstrap() {
  const app = await NestFactory.create(AppModule, { logger: WinstonModule.createLogger({ instance: logger }) })
  app.use(requestLines(logger)) // an id in each line of a request, and one line for its end
  app.enableShutdownHooks()
  await app.listen(process.env.PORT ?? 3000)
}
void bootstrap()
