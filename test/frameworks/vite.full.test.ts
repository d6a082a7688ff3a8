import { leaves, testServer } from '../support/framework-tests.js'

testServer('vite', [{ script: 'start', end: leaves, others: {} }])
