import Fastify from 'fastify'
import pino from 'pino'
import { stats } from 'sluice'
import { sluiceFastify } from 'sluice/fastify'
import { sluicePino } from 'sluice/pino'
import { expect, it } from 'vitest'
import { startTestReceiver } from '../support/receiver.js'

it('the end of a fastify server delivers the lines of its requests, with their ids, and closes Sluice', async () => {
  const receiver = await startTestReceiver()
  try {
    const logger = pino({ base: null }, sluicePino(receiver.options))
    const app = Fastify()
    await app.register(sluiceFastify, { logger })
    app.get('/orders/:id', async () => {
      logger.info('order read')
      return {}
    })
    await app.inject({ url: '/orders/7', headers: { 'x-request-id': 'r-7' } })
    await app.close()
    logger.info('too late')
    const [read, line, ...more] = (await receiver.logs()).map(({ message }) => message)
    expect(read).toBe('order read {"requestId":"r-7"}')
    expect(line).toMatch(/^request {"method":"GET","route":"\/orders\/:id","status":200,.*"requestId":"r-7"}$/)
    expect(more).toEqual([])
    expect(stats().dropped.closed).toBe(1)
  } finally {
    await receiver.close()
  }
})
