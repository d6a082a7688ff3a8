import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { serveOrders, upTo } from '../support/framework-course.js'
import { FrameworkExample } from '../support/framework-example.js'
import { dies } from '../support/framework-tests.js'

let example: FrameworkExample
beforeAll(async () => {
  const copied = await FrameworkExample.copy('bun')
  example = copied.example
  await example.project.install(copied.tarball, '@oven/bun-linux-x64@1.4.5')
  const { folder } = example.project
  symlinkSync('../@oven/bun-linux-x64/bin/bun', join(folder, 'node_modules/.bin/bun'))
  await example.runScript('build')
})
afterAll(() => example.remove())

it('the executable file of the example bun loses no record at SIGTERM', async () => {
  const course = await serveOrders(example, { stopsListening: false })
  const events = upTo(20).map(() => 1001)
  const ended = { ...dies, stdout: '', stderr: '' }
  expect(course).toEqual({ ended, orders: upTo(20), others: { 'order audited': 20 }, events })
})
