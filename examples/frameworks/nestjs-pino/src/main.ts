import 'sluice' // before pino starts its worker: SIGTERM then waits for its lines
import { NestFactory } from '@nestjs/core'
import { Logger } from 'nestjs-pino'
import { AppModule } from './app.module.js'

async function bootstrap() {
  const app = await NestFactory.create(AppModule, { bufferLogs: true })
  app.useLogger(app.get(Logger))
  app.enableShutdownHooks()
  await app.listen(process.env.PORT ?? 3000)
}
void bootstrap()
