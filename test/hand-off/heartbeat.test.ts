import { expect, it, onTestFinished, vi } from 'vitest'
import { answerHeartbeat, Heartbeat } from '../../src/hand-off/heartbeat.js'
import { VirtualClock } from '../support/virtual-clock.js'

function start({ started = true, answering = true } = {}) {
  const clock = new VirtualClock()
  const answers = new SharedArrayBuffer(4)
  const worker = { started, answering, busy: true, asked: 0, stopped: 0 }
  const heartbeat = new Heartbeat({
    clock,
    answers,
    ask() {
      worker.asked++
      if (worker.answering) answerHeartbeat(answers)
    },
    started: () => worker.started,
    busy: () => worker.busy,
    stopped: () => worker.stopped++,
  })
  heartbeat.watch()
  return { clock, worker, heartbeat }
}

it('asks a worker every second, until no work depends on it', async () => {
  const { clock, worker, heartbeat } = start()
  await clock.advance(10_000)
  expect(worker).toMatchObject({ asked: 11, stopped: 0 })
  worker.busy = false
  await clock.advance(100_000)
  expect(worker).toMatchObject({ asked: 11, stopped: 0 })
  heartbeat.watch()
  expect(worker.asked).toBe(12)
  await clock.advance(100_000)
  expect(worker.asked).toBe(12)
  heartbeat.stop()
  expect(clock.timers).toBe(0)
})

it('asks a worker again that has found work by itself', async () => {
  const { clock, worker } = start()
  worker.busy = false
  await clock.advance(60_000)
  Object.assign(worker, { busy: true, answering: false })
  await clock.advance(5000)
  expect(worker.stopped).toBe(0)
  await clock.advance(10_000)
  expect(worker.stopped).toBe(1)
})

it('reports a worker once, after five seconds without an answer', async () => {
  const { clock, worker } = start()
  await clock.advance(3000)
  worker.answering = false
  await clock.advance(5999)
  expect(worker.stopped).toBe(0)
  await clock.advance(1)
  expect(worker.stopped).toBe(1)
  await clock.advance(3_600_000)
  expect(worker.stopped).toBe(1)
})

it('gives a worker a minute to start', async () => {
  const { clock, worker } = start({ started: false, answering: false })
  await clock.advance(59_999)
  expect(worker.stopped).toBe(0)
  await clock.advance(1)
  expect(worker.stopped).toBe(1)
})

it('gives a worker that took long to start its five seconds from then on', async () => {
  const { clock, worker } = start({ started: false, answering: false })
  await clock.advance(50_000)
  worker.started = true
  await clock.advance(4999)
  expect(worker.stopped).toBe(0)
  await clock.advance(1)
  expect(worker.stopped).toBe(1)
})

it('does not blame the worker for an hour in which the process itself was stopped', async () => {
  const { clock, worker } = start()
  worker.answering = false
  await clock.advance(2000)
  clock.block(3_600_000)
  await clock.advance(1000)
  expect(worker.stopped).toBe(0)
})

it('keeps no process alive', () => {
  expect(start().clock.holding).toBe(0)
})

it('waits for an answer of the worker, while the event loop stands still', () => {
  const { worker, heartbeat } = start()
  expect(heartbeat.answersWithin(1000)).toBe(true)
  expect(worker.asked).toBe(2)
})

it('waits for an answer no longer than it may', () => {
  const answers = new SharedArrayBuffer(4)
  const heartbeat = new Heartbeat({
    answers,
    ask() {},
    started: () => true,
    busy: () => true,
    stopped() {},
  })
  const before = performance.now()
  expect(heartbeat.answersWithin(40)).toBe(false)
  expect(performance.now() - before).toBeGreaterThanOrEqual(39)
  expect(performance.now() - before).toBeLessThan(1000)
  answerHeartbeat(answers)
  // One answer for two questions is late: the second is still open.
  expect(heartbeat.answersWithin(0)).toBe(false)
})

it.each([
  ['for the answer to its own question when an earlier one is answered first', 0],
  ['until its deadline, and hears the answer of that moment', 500],
])('waits %s', async (_, blockedMs) => {
  const { clock, worker, heartbeat } = start()
  worker.answering = false
  await clock.advance(1500)
  const waiting = vi.spyOn(Atomics, 'wait').mockImplementation((word) => {
    clock.block(blockedMs)
    answerHeartbeat(word.buffer as SharedArrayBuffer)
    return 'ok'
  })
  onTestFinished(() => waiting.mockRestore())
  expect(heartbeat.answersWithin(1000)).toBe(true)
  expect(waiting).toHaveBeenCalledTimes(2)
})

it('asks once, however often there is new work, and stops once', async () => {
  const { clock, worker, heartbeat } = start()
  heartbeat.watch()
  heartbeat.watch()
  expect({ asked: worker.asked, timers: clock.timers }).toEqual({ asked: 1, timers: 1 })
  heartbeat.stop()
  heartbeat.stop()
  expect(clock.timers).toBe(0)
})

it('puts no further question to a worker that has not answered the one before', async () => {
  const { clock, worker } = start()
  worker.answering = false
  await clock.advance(4500)
  expect(worker.asked).toBe(2)
})

it('does not end its watch of a worker without work that owes an answer', async () => {
  const { clock, worker } = start()
  worker.answering = false
  await clock.advance(1500)
  worker.busy = false
  await clock.advance(3600)
  expect(worker.stopped).toBe(0)
  await clock.advance(1000)
  expect(worker.stopped).toBe(1)
})
