import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { thisMachine } from '../../src/engine/machine.js'
import { HandOff } from '../../src/hand-off/hand-off.js'
import { configure } from '../../src/process/configure.js'
import { FakeThread } from '../support/fake-thread.js'
import { delivered, FaultServer } from '../support/fault-server.js'
import { settle, VirtualClock } from '../support/virtual-clock.js'

const all = Number.POSITIVE_INFINITY
const lanes = [
  { kind: 'logs', bucket: 'b' },
  { kind: 'values', bucket: 'b' },
] as const

function start({ url = 'http://127.0.0.1:1', up = true, maxQueueBytes = 65_536 } = {}) {
  const clock = new VirtualClock()
  const printed: string[] = []
  const errors: string[] = []
  const onError = ({ message }: Error) => void errors.push(message)
  const thread = new FakeThread(lanes)
  thread.up = up
  const { options } = configure({ url, apiKey: 'k', bucket: 'b', maxQueueBytes, onError }, 'values')
  const engine = new HandOff(options, {
    thread,
    machine: { ...thisMachine, clock },
    print: (text) => void printed.push(text),
  })
  const log = (text: string, severity: 2 | 4 = 2) =>
    engine.pinoLine(JSON.stringify({ msg: text }), { style, severity, arrivedAt: 0 })
  /** The worker does all that there is to do. */
  const serve = async () => {
    await settle()
    thread.take(all)
    thread.deliver(all)
    thread.answer()
    await settle()
  }
  return { clock, printed, errors, thread, engine, log, serve }
}

const style = { messageKey: 'msg' }
const events = (lines: readonly string[]) => lines.map((line) => Number(/^v(\d+),/.exec(line)?.[1]))

describe('a hand-off whose worker starts slowly', () => {
  it('keeps the records, and hands them over in order when the worker takes lines', async () => {
    const { thread, engine, serve } = start({ up: false })
    for (const event of [1, 2]) engine.value(event, 0)
    await settle()
    engine.value(3, 0)
    expect(engine.stats()).toMatchObject({ accepted: 3, queued: 3 })
    thread.restart()
    await serve()
    expect(events(thread.delivered)).toEqual([1, 2, 3])
  })

  it('asks for a worker at a flush, answers by the deadline without one, and before it with one', async () => {
    const { clock, thread, engine, serve } = start({ up: false })
    engine.value(1, 0)
    let flushed = 0
    void engine.flush({ timeoutMs: 1000 }).then(() => flushed++)
    void engine.flush({ timeoutMs: 5000 }).then(() => flushed++)
    expect(thread.hurried).toBe(2)
    await clock.advance(1009)
    expect(flushed).toBe(0)
    await clock.advance(1)
    expect(flushed).toBe(1)
    thread.restart()
    await serve()
    expect(flushed).toBe(2)
  })

  it('flushes at once without a worker when nothing is pending', async () => {
    const { thread, engine } = start({ up: false })
    expect(await engine.flush()).toMatchObject({ accepted: 0 })
    expect(thread.hurried).toBe(0)
  })

  it('drops records without room as `worker-failed`, and as `hand-off-full` where there is a worker', async () => {
    for (const up of [true, false]) {
      const { engine, log } = start({ up, maxQueueBytes: 2000 })
      for (let number = 0; number < 50; number++) log('x'.repeat(100))
      const { dropped } = engine.stats()
      expect(dropped[up ? 'hand-off-full' : 'worker-failed']).toBeGreaterThan(30)
      expect(dropped[up ? 'worker-failed' : 'hand-off-full']).toBe(0)
    }
  })

  it('keeps room for errors, and for values beyond them', async () => {
    const { engine, log } = start({ up: false, maxQueueBytes: 20_000 })
    const dropped = () => engine.stats().dropped['worker-failed']
    while (dropped() === 0) log('x'.repeat(500))
    log('y'.repeat(500), 4)
    expect(dropped()).toBe(1)
    while (dropped() === 1) log('y'.repeat(500), 4)
    for (let event = 0; event < 40; event++) engine.value(event, 0)
    await settle()
    expect(dropped()).toBe(2)
  })
})

describe('a hand-off whose worker fails', () => {
  it('hands over what it had not taken to the next one: styles of loggers first, newer records last', async () => {
    const { thread, engine, log, serve } = start()
    log('first')
    await settle()
    thread.take(all)
    log('second')
    await settle()
    thread.die(undefined)
    log('third')
    await settle()
    expect(engine.stats()).toMatchObject({ accepted: 3, queued: 2, dropped: { 'worker-failed': 1 } })
    thread.restart()
    expect(thread.waiting[0]).toMatch(/^s0,/)
    await serve()
    expect([...thread.styles]).toEqual([0])
    expect(thread.delivered.map((line) => line.slice(line.indexOf('{')))).toEqual([
      '{"msg":"second"}',
      '{"msg":"third"}',
    ])
  })

  it('counts the records that the worker had taken, reports them to `onError`, and prints nothing: the supervisor does', async () => {
    const { printed, errors, thread, engine } = start()
    engine.value(1, 1)
    engine.value(2, 2)
    await settle()
    thread.take(2)
    thread.die(undefined)
    await settle()
    expect(engine.stats().dropped['worker-failed']).toBe(2)
    expect(errors).toContain('2 value records dropped (worker-failed): the delivery worker has failed')
    expect(printed).toEqual([])
  })

  it('asks the next worker for a drain that the failed one had not answered', async () => {
    const { clock, thread, engine, serve } = start()
    engine.value(1, 0)
    let parked = false
    void engine.park({ timeoutMs: 3000 }).then(() => {
      parked = true
    })
    await clock.advance(2000)
    thread.die(undefined)
    thread.restart()
    expect(thread.waiting.at(-1)).toMatch(/^k\d+,1000$/)
    await serve()
    expect(parked).toBe(true)
  })

  it('resolves a flush by its deadline while the worker hangs', async () => {
    const { clock, thread, engine } = start()
    engine.value(1, 0)
    await settle()
    thread.take(all)
    let ledger: unknown
    void engine.flush({ timeoutMs: 700 }).then((each) => {
      ledger = each
    })
    await clock.advance(710)
    expect(ledger).toMatchObject({ accepted: 1, queued: 1, delivered: 0 })
    expect(clock.holding).toBe(0)
  })
})

describe('what a hand-off says', () => {
  it('is the same whatever its mode: a closed one refuses records of every kind', async () => {
    const { engine, log, serve } = start()
    expect(engine.closed).toBe(false)
    const closing = engine.close({ timeoutMs: 1000 })
    expect(engine.closed).toBe(true)
    log('late')
    engine.value(1, 0)
    engine.winstonLine('{}', { level: 'info', severity: 2, arrivedAt: 0 })
    await serve()
    const { lanes } = await closing
    expect(lanes.map(({ dropped }) => dropped.closed)).toEqual([2, 1])
  })

  it('of a line that could not be read goes to `onError`, and to the service as a warning', async () => {
    const { errors, thread, engine, serve } = start()
    engine.unmapped(new Error('no JSON'))
    await serve()
    expect(errors.join()).toContain('a line could not be read: Error: no JSON')
    expect(thread.delivered.join()).toContain('sluice: a line could not be read')
  })

  it('of a bad number is a count', () => {
    const { engine } = start()
    engine.invalid()
    expect(engine.stats()).toMatchObject({ invalid: 1, accepted: 0 })
  })

  it('comes from the worker, too: errors go to `onError`', () => {
    const { errors, engine } = start()
    engine.received({ engine: 1, type: 'error', code: 'SLUICE_OUTAGE', text: 'the service is out of reach' })
    expect(errors).toEqual(['the service is out of reach'])
    engine.received({ engine: 1, type: 'channel', name: 'sluice:dropped', message: {} })
    expect(errors).toHaveLength(1)
  })

  it('about a line at which the worker stopped is a loss of that kind of record', async () => {
    for (const [kind, index] of [
      ['logs', 0],
      ['values', 1],
    ] as const) {
      const { thread, engine, log } = start()
      if (kind === 'logs') log('deadly')
      else engine.value(1, 0)
      await settle()
      thread.take(kind === 'logs' ? 1 : 0)
      thread.die('line')
      expect(engine.stats().lanes[index]!.dropped.unreadable).toBe(1)
      expect(engine.stats()).toMatchObject({ accepted: 1, queued: 0 })
    }
  })

  it('is busy while records are in the outbox’s way or with the worker', async () => {
    const { thread, engine, serve } = start()
    expect(engine.busy).toBe(false)
    engine.value(1, 0)
    await settle()
    expect(engine.busy).toBe(true)
    thread.take(all)
    expect(engine.busy).toBe(true)
    await serve()
    expect(engine.busy).toBe(false)
  })
})

describe('the close of a hand-off without a worker', () => {
  it('counts the records that are left as dropped by `shutdown`, and later ones as `closed`', async () => {
    const { clock, thread, engine } = start()
    engine.value(1, 0)
    await settle()
    thread.die(undefined)
    engine.value(2, 0)
    const closing = engine.close({ timeoutMs: 500 })
    engine.value(3, 0)
    await clock.advance(510)
    expect(await closing).toMatchObject({ accepted: 3, queued: 0, dropped: { shutdown: 2, closed: 1 } })
    expect(await engine.close()).toBe(await closing)
    expect(thread.ended).toBe(1)
  })

  it('continues in a worker that starts in time, with the rest of its time', async () => {
    const { clock, thread, engine, serve } = start()
    thread.die(undefined)
    engine.value(1, 0)
    const closing = engine.close({ timeoutMs: 5000 })
    await clock.advance(2000)
    thread.restart()
    expect(thread.waiting.at(-1)).toMatch(/^c\d+,3000$/)
    await serve()
    expect(await closing).toMatchObject({ accepted: 1, delivered: 1 })
    expect(clock.holding).toBe(0)
  })
})

describe('the end of a process with a hand-off', () => {
  it('begins early where a worker takes lines: the worker has all of them when the call returns', async () => {
    const { thread, engine } = start()
    engine.value(1, 0)
    expect(engine.beforeEnd()).toBe(true)
    expect(events(thread.delivered)).toEqual([1])
    thread.die(undefined)
    expect(engine.beforeEnd()).toBe(false)
  })

  it('gathers the records of a process without work for 50 ms, which does not keep it alive', async () => {
    const { clock, thread, engine } = start()
    engine.ending()
    engine.value(1, 0)
    await clock.advance(49)
    expect(thread.waiting).toEqual([])
    expect(clock.holding).toBe(0)
    await clock.advance(1)
    expect(thread.waiting).toHaveLength(1)
  })

  it('hands over and closes the engine in the worker', () => {
    const { thread, engine } = start()
    engine.value(1, 0)
    const step = engine.endSync({ timeoutMs: 1000 })
    expect(step(0)).toBe(true)
    expect(events(thread.delivered)).toEqual([1])
  })

  it('waits for the worker’s close until half a second after its deadline', () => {
    const { clock, thread, engine } = start()
    engine.value(1, 0)
    thread.answer = () => {}
    const step = engine.endSync({ timeoutMs: 1000 })
    clock.block(1499)
    expect(step(0)).toBe(false)
    clock.block(1)
    expect(step(0)).toBe(true)
  })

  it('reaches another worker where the first has failed', () => {
    const { thread, engine } = start()
    thread.die(undefined)
    engine.value(1, 0)
    expect(engine.endSync({ timeoutMs: 1000 })(0)).toBe(true)
    expect(events(thread.delivered)).toEqual([1])
  })

  it('waits for no worker where none can be reached, and still counts the records as queued', () => {
    const { thread, engine } = start()
    thread.reachSync = () => false
    engine.value(1, 0)
    expect(engine.endSync({ timeoutMs: 1000 })(0)).toBe(true)
    expect(engine.stats()).toMatchObject({ accepted: 1, queued: 1 })
  })

  it('reports once the records that a close under way has dropped, even when the worker has not answered it in time', async () => {
    const { clock, printed, thread, engine } = start()
    let gone = () => {}
    thread.termination = new Promise((resolve) => {
      gone = resolve
    })
    engine.value(1, 0)
    await settle()
    thread.take(all)
    const closing = engine.close({ timeoutMs: 300 })
    await clock.advance(310)
    expect(engine.stats()).toMatchObject({ queued: 0, dropped: { shutdown: 1 } })
    expect(printed).toEqual([])
    expect(engine.endSync({ timeoutMs: 0 })(0)).toBe(true)
    const told = ['1 value record dropped (shutdown): not delivered before the end']
    expect(printed).toEqual(told)
    gone()
    await closing
    engine.endSync()
    expect(printed).toEqual(told)
  })
})

describe('a hand-off for which no worker can be started', () => {
  let server: FaultServer
  beforeEach(async () => {
    server = await FaultServer.start(() => delivered)
  })
  afterEach(() => server.close())

  it('delivers earlier records once each in this thread, and later ones too', async () => {
    const { thread, engine, log } = start({ url: server.url, up: false })
    log('first')
    engine.value(1, 0)
    await settle()
    log('second')
    const flushing = engine.flush()
    thread.forbid()
    expect(await flushing).toMatchObject({ accepted: 3, delivered: 3 })
    log('third')
    engine.value(2, 0)
    expect(await engine.close()).toMatchObject({ accepted: 5, delivered: 5, queued: 0, inFlight: 0 })
    const bodies = server.taken.map((body) => JSON.parse(body) as { message?: string; eventId?: number })
    expect(bodies.flatMap(({ message }) => message ?? [])).toEqual(['first', 'second', 'third'])
    expect(bodies.flatMap(({ eventId }) => eventId ?? [])).toEqual([1, 2])
    engine.value(3, 0)
    expect(engine.stats()).toMatchObject({ accepted: 6, dropped: { closed: 1 } })
  })

  it('delivers from this thread at the end of the process when only then no worker can be started', async () => {
    const { thread, engine } = start({ url: server.url, up: false })
    thread.onReach = () => thread.forbid()
    engine.value(1, 0)
    const step = engine.endSync({ timeoutMs: 5000 })
    while (!step(5)) await settle()
    expect(engine.stats()).toMatchObject({ accepted: 1, delivered: 1, queued: 0 })
    expect(server.taken).toHaveLength(1)
  })
})
