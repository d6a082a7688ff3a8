import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serveOrders, upTo } from '../support/framework-course.js'
import { FrameworkExample } from '../support/framework-example.js'

let example: FrameworkExample
beforeAll(async () => {
  example = await FrameworkExample.install('nest-winston')
})
afterAll(() => example.remove())

const end = { code: null, signal: 'SIGTERM' }
const others = {
  'Starting Nest application...': 1,
  'AppModule dependencies initialized': 1,
  OrdersController: 1,
  Mapped: 1,
  'Nest application successfully started': 1,
  request: 20,
  'no more orders after SIGTERM': 1,
}

describe('the server of the example nest-winston', () => {
  it('loses no line at SIGTERM, and ends as without Sluice', async () => {
    const course = await serveOrders(example)
    const events = Array(20).fill(1001)
    expect(course).toEqual({ ended: { ...end, stdout: '', stderr: '' }, orders: upTo(20), others, events })
    expect((await serveOrders(example.withoutSluice())).ended).toEqual(course.ended)
  })
})
