import { dies, leaves, testServer } from '../support/framework-tests.js'

const own = { 'Server listening': 1, 'incoming request': 20, 'request completed': 20 }

testServer('fastify', [
  { script: 'start', end: dies, stopsListening: false, others: own, tracks: false },
  { script: 'start:alone', end: dies, stopsListening: false, afterDelivery: true, others: own, tracks: false },
  { script: 'start:stream', end: dies, stopsListening: false, others: own, tracks: false },
  { script: 'start:requests', end: leaves, others: { 'Server listening': 1, request: 20 } },
])
