import { dies, testServer } from '../support/framework-tests.js'

const others = {
  'Starting Nest application...': 1,
  'AppModule dependencies initialized': 1,
  'LoggerModule dependencies initialized': 1,
  OrdersController: 1,
  Mapped: 1,
  'Nest application successfully started': 1,
  'request completed': 20,
  'no more orders after SIGTERM': 1,
}

testServer('nestjs-pino', [{ script: 'start', end: dies, others }])
