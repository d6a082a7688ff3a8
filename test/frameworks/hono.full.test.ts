import { leaves, testServer } from '../support/framework-tests.js'

testServer('hono', [{ script: 'start', end: leaves, others: {} }])
