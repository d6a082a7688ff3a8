import { leaves, testServer } from '../support/framework-tests.js'

testServer('express-pino-http', [{ script: 'start', end: leaves, others: { 'request completed': 20 } }])
