import { afterAll, beforeAll, expect, it } from 'vitest'
import { serveOrders, upTo } from '../support/framework-course.js'
import { FrameworkExample } from '../support/framework-example.js'

let example: FrameworkExample
beforeAll(async () => {
  example = await FrameworkExample.install('react-router')
})
afterAll(() => example.remove())

it('the server of the example react-router loses no record at SIGTERM', async () => {
  const course = await serveOrders(example, { pages: ['/', '/'] })
  const ended = { code: 0, signal: null, stderr: expect.stringMatching(/^\s*$/) }
  const events = upTo(20).map(() => 1001)
  expect(course).toMatchObject({ ended, orders: upTo(20), others: { 'page rendered': 2 }, events })
})
