import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serveOrders, upTo } from '../support/framework-course.js'
import { FrameworkExample } from '../support/framework-example.js'

let example: FrameworkExample
beforeAll(async () => {
  example = await FrameworkExample.install('express-pino-http')
})
afterAll(() => example.remove())

const end = { code: 0, signal: null }
const others = { 'request completed': 20 }

describe('the server of the example express-pino-http', () => {
  it('loses no line at SIGTERM, and ends as without Sluice', async () => {
    const course = await serveOrders(example)
    const events = Array(20).fill(1001)
    expect(course).toEqual({ ended: { ...end, stdout: '', stderr: '' }, orders: upTo(20), others, events })
    expect((await serveOrders(example.withoutSluice())).ended).toEqual(course.ended)
  })
})
