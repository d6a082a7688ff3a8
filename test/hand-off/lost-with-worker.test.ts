import { expect, it } from 'vitest'
import { HandOff } from '../../src/hand-off/hand-off.js'
import { configure } from '../../src/process/configure.js'
import { FakeThread } from '../support/fake-thread.js'
import { settle, VirtualClock } from '../support/virtual-clock.js'

it('leaves the line about a failed worker to whoever prints one for all engines, and tells the listeners', async () => {
  const told: string[] = []
  const printed: string[] = []
  const own = { url: 'http://127.0.0.1:1', apiKey: 'k', bucket: 'b' }
  const { options } = configure({ ...own, onError: ({ message }) => void told.push(message) }, 'values')
  const thread = new FakeThread([
    { kind: 'logs', bucket: 'b' },
    { kind: 'values', bucket: 'b' },
  ])
  const clock = new VirtualClock()
  const engine = new HandOff(options, { thread, clock, print: (text) => printed.push(text) })
  engine.value(1, 1)
  engine.value(2, 2)
  await settle()
  thread.take(2)
  thread.die(undefined)
  await settle()
  expect(engine.stats().dropped['worker-failed']).toBe(2)
  expect(told).toContain('2 value records dropped (worker-failed): the delivery worker has failed')
  expect(printed).toEqual([])
})
