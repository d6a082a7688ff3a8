import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serveOrders, upTo } from '../support/framework-course.js'
import { FrameworkExample } from '../support/framework-example.js'

let example: FrameworkExample
beforeAll(async () => {
  example = await FrameworkExample.install('fastify')
})
afterAll(() => example.remove())

/** The lines that fastify has for its start and for each of 20 requests. */
const ofFastify = { 'Server listening': 1, 'incoming request': 20, 'request completed': 20 }
const died = { code: null, signal: 'SIGTERM' }
const events = Array(20).fill(1001)

describe('the server of the example fastify', () => {
  it.each([
    { script: 'start', stopsListening: false, end: died, others: ofFastify, events: [] },
    { script: 'start:stream', stopsListening: false, end: died, others: ofFastify, events: [] },
    {
      script: 'start:plugin',
      stopsListening: true,
      end: { code: 0, signal: null },
      others: { 'Server listening': 1, request: 20 },
      events,
    },
  ])('loses no line at SIGTERM, and ends as without Sluice: $script', async ({ end, others, events, ...options }) => {
    const course = await serveOrders(example, options)
    expect(course).toEqual({ ended: { ...end, stdout: '', stderr: '' }, orders: upTo(20), others, events })
    expect((await serveOrders(example.withoutSluice(), options)).ended).toEqual(course.ended)
  })
})
