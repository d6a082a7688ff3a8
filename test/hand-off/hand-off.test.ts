import { describe, expect, it } from 'vitest'
import { ControlBlock } from '../../src/control/control-block.js'
import { LedgerBook } from '../../src/delivery/ledger-book.js'
import { all, startHandOff } from '../support/hand-off.js'
import { settle } from '../support/virtual-clock.js'

describe('a hand-off whose worker starts slowly', () => {
  it('keeps the records, and hands them over in order when the worker takes lines', async () => {
    const { thread, engine, serve } = startHandOff({ up: false })
    for (const event of [1, 2]) engine.value(event, 0)
    await settle()
    engine.value(3, 0)
    expect(engine.stats()).toMatchObject({ accepted: 3, queued: 3 })
    thread.restart()
    await serve()
    expect(thread.delivered).toEqual(['v1', 'v2', 'v3'])
  })

  it('asks for a worker at a flush, answers by the deadline without one, and before it with one', async () => {
    const { clock, thread, engine, serve } = startHandOff({ up: false })
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
    const { thread, engine } = startHandOff({ up: false })
    expect(await engine.flush()).toMatchObject({ accepted: 0 })
    expect(thread.hurried).toBe(0)
  })

  it('drops records without room as `worker-failed`, and as `hand-off-full` where there is a worker', async () => {
    for (const up of [true, false]) {
      const { engine, log } = startHandOff({ up, maxQueueBytes: 2000 })
      for (let number = 0; number < 50; number++) log('x'.repeat(100))
      const { dropped } = engine.stats()
      expect(dropped[up ? 'hand-off-full' : 'worker-failed']).toBeGreaterThan(30)
      expect(dropped[up ? 'worker-failed' : 'hand-off-full']).toBe(0)
    }
  })

  it('keeps room for errors, and for values beyond them', async () => {
    const { engine, log } = startHandOff({ up: false, maxQueueBytes: 20_000 })
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
  it('leaves what it had not taken to the next one, which knows the styles of loggers from the start; newer records come last', async () => {
    const { thread, engine, log, serve } = startHandOff()
    log('first')
    await settle()
    thread.take(all)
    log('second')
    await settle()
    thread.die()
    log('third')
    await settle()
    expect(engine.stats()).toMatchObject({ accepted: 3, queued: 2, dropped: { 'worker-failed': 1 } })
    thread.restart()
    await serve()
    expect(thread.delivered).toEqual(['{"msg":"second"}', '{"msg":"third"}'])
    expect(thread.lost).toEqual(['{"msg":"first"}'])
  })

  it('counts the records that the worker had taken, reports them to `onError`, and prints nothing: the supervisor does', async () => {
    const { printed, codes, errors, thread, engine } = startHandOff()
    engine.value(1, 1)
    engine.value(2, 2)
    await settle()
    thread.take(2)
    thread.die()
    await settle()
    expect(engine.stats().dropped['worker-failed']).toBe(2)
    expect(errors).toContain('2 value records dropped (worker-failed): the delivery worker has failed')
    expect(codes[0]).toBe('SLUICE_WORKER_FAILED')
    expect(printed).toEqual([])
  })

  it.each([
    ['with a spool those that were on disk are spooled', '/spool', { spooled: 1, lost: 1 }],
    ['without a spool all of them are lost', undefined, { spooled: 0, lost: 2 }],
  ])('counts the records that the worker had taken: %s', async (_, spoolDir, { spooled, lost }) => {
    const { thread, engine } = startHandOff(spoolDir === undefined ? {} : { spoolDir })
    engine.value(1, 1)
    engine.value(2, 2)
    await settle()
    thread.take(2)
    new LedgerBook(engine.lanes, engine.memory).count(1, 'onDisk', 1)
    thread.die()
    expect(engine.stats()).toMatchObject({ accepted: 2, spooled, dropped: { 'worker-failed': lost } })
  })

  it('asks the next worker for a drain that the failed one had not answered, with the rest of its time', async () => {
    const { clock, thread, engine, serve } = startHandOff()
    engine.value(1, 0)
    let parked = false
    void engine.park({ timeoutMs: 3000 }).then(() => {
      parked = true
    })
    await clock.advance(2000)
    expect(clock.holding).toBe(1)
    thread.die()
    thread.restart()
    expect(thread.asks).toEqual([{ number: 1, mode: 'park', until: 3000, brief: false, after: 1 }])
    await serve()
    expect(parked).toBe(true)
  })

  it('resolves a flush by its deadline while the worker hangs', async () => {
    const { clock, thread, engine } = startHandOff()
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

describe('a drain of a hand-off', () => {
  it.each(['flush', 'park', 'close'] as const)(
    'tells the worker its kind (%s), its deadline, and which records come before it, and resolves with the answer',
    async (mode) => {
      const { clock, thread, engine, serve } = startHandOff()
      await clock.advance(100)
      engine.value(1, 0)
      engine.value(2, 0)
      let ledger: unknown
      void engine[mode]({ timeoutMs: 5000 }).then((each) => {
        ledger = each
      })
      expect(thread.asks).toEqual([{ number: 1, mode, until: 5100, brief: false, after: 2 }])
      expect(thread.waiting).toEqual(['v1', 'v2'])
      expect(clock.holding).toBe(1)
      await settle()
      expect(ledger).toBe(undefined)
      await serve()
      expect(ledger).toMatchObject({ accepted: 2, delivered: 2 })
      expect(clock.holding).toBe(0)
    },
  )

  it('is brief without a time of its own, and holds no process where it need not', async () => {
    const { clock, thread, engine } = startHandOff()
    void engine.flush({ holdsProcess: false })
    expect(thread.asks).toMatchObject([{ brief: true, until: engine.options.shutdownTimeoutMs }])
    expect(clock.holding).toBe(0)
  })

  it.each([
    ['flush', 1000, 1010],
    ['close', 1000, 1010],
    ['park', 1000, 1200],
    ['park', 100, 130],
    ['park', 10_000, 10_400],
  ] as const)(
    'leaves the answer of a %s within %i ms some time more: it resolves after %i ms',
    async (mode, timeoutMs, afterMs) => {
      const { clock, thread, engine } = startHandOff()
      engine.value(1, 0)
      thread.stuck = true
      let resolved = false
      void engine[mode]({ timeoutMs }).then(() => {
        resolved = true
      })
      await clock.advance(afterMs - 1)
      expect(resolved).toBe(false)
      await clock.advance(1)
      expect(resolved).toBe(true)
    },
  )

  it('resolves with the answer of the worker, however many others are open', async () => {
    const { engine, serve } = startHandOff()
    engine.value(1, 0)
    let resolved = 0
    for (let flush = 0; flush < 40; flush++) void engine.flush({ timeoutMs: 60_000 }).then(() => resolved++)
    for (let round = 0; round < 4; round++) await serve()
    expect(resolved).toBe(40)
  })

  it('has its turn, also where others are made at the moment at which one is over: few are open at a time', async () => {
    const { machine, thread, engine } = startHandOff()
    engine.value(1, 0)
    const flush = () => void engine.flush({ timeoutMs: 60_000 })
    for (let count = 0; count < 20; count++) flush()
    const { drains } = engine.plan({ diskIsStalled: false })
    new ControlBlock(drains, machine).answer(thread.asks[0]!.number)
    for (let microtask = 0; microtask < 20; microtask++) {
      await Promise.resolve()
      flush()
    }
    await settle()
    let open = 0
    new ControlBlock(drains, machine).whenAsked(() => open++)()
    expect(open).toBeLessThanOrEqual(16)
    expect(thread.asks).toHaveLength(open + 1)
  })

  it('resolves with the answer of the worker, however many shorter ones were made meanwhile', async () => {
    const { clock, thread, engine, serve } = startHandOff()
    engine.value(1, 0)
    await settle()
    thread.take(all)
    let resolved = false
    void engine.flush({ timeoutMs: 60_000 }).then(() => {
      resolved = true
    })
    for (let flush = 0; flush < 20; flush++) {
      void engine.flush({ timeoutMs: 100 })
      await clock.advance(200)
    }
    expect(resolved).toBe(false)
    await serve()
    expect(resolved).toBe(true)
  })

  it('is asked for behind the records that the ring had no room for, in their order', async () => {
    const { thread, engine, log, serve } = startHandOff({ pipeBytes: 4096 })
    const texts = Array.from({ length: 40 }, (_, number) => `${number}${'x'.repeat(30 * number)}`)
    for (const text of texts) log(text)
    const flushing = engine.flush({ timeoutMs: 5000 })
    expect(thread.asks).toMatchObject([{ after: 40 }])
    expect(thread.waiting.length).toBeLessThan(40)
    await serve()
    expect(await flushing).toMatchObject({ accepted: 40, delivered: 40 })
    expect(thread.delivered).toEqual(texts.map((msg) => JSON.stringify({ msg })))
  })
})

describe('what a hand-off says', () => {
  it('is the same whatever its mode: a closed one refuses records of every kind', async () => {
    const { engine, log, serve } = startHandOff()
    expect(engine.closed).toBe(false)
    const closing = engine.close({ timeoutMs: 1000 })
    expect(engine.closed).toBe(true)
    log('late')
    engine.value(1, 0)
    engine.line('{}', { style: {}, severity: 2, arrivedAt: 0 })
    await serve()
    const { lanes } = await closing
    expect(lanes.map(({ dropped }) => dropped.closed)).toEqual([2, 1])
  })

  it('of a line that could not be read goes to `onError`, and to the service as a warning', async () => {
    const { codes, errors, thread, engine, serve } = startHandOff()
    engine.unmapped(new Error('no JSON'))
    await serve()
    expect(codes).toEqual(['SLUICE_UNMAPPED'])
    expect(errors.join()).toContain('a line could not be read: Error: no JSON')
    expect(thread.delivered.join()).toContain('sluice: a line could not be read')
  })

  it('of a line that could not be read goes to `onError` alone where no bucket takes log records', async () => {
    const { errors, thread, engine, serve } = startHandOff({ valuesOnly: true })
    engine.unmapped(new Error('no JSON'))
    await serve()
    expect(errors).toHaveLength(1)
    expect(thread.delivered).toEqual([])
    expect(engine.stats()).toMatchObject({ accepted: 0, queued: 0 })
  })

  it('of a bad number is a count', () => {
    const { engine } = startHandOff()
    engine.invalid()
    expect(engine.stats()).toMatchObject({ invalid: 1, accepted: 0 })
  })

  it('comes from the worker, too: it goes to `onError`', async () => {
    const { errors, engine } = startHandOff()
    const lane = { kind: 'logs', bucket: 'b' } as const
    engine.received({ engine: 1, news: { type: 'outage', lane, about: { reason: 'out of reach' } } })
    await settle()
    expect(errors.join()).toContain('out of reach')
  })

  it('says how many records the worker has dropped, each once, also where its last news are not read', async () => {
    const { clock, errors, engine } = startHandOff()
    const book = new LedgerBook(engine.lanes, engine.memory)
    const drop = (count: number) => book.move(0, 'taken', 'queue-full', count, 0)
    const told = () => errors.reduce((sum, text) => sum + Number(/^(\d+) log records? dropped/.exec(text)?.[1] ?? 0), 0)
    drop(3)
    engine.received({ engine: 1, news: { type: 'dropped' } })
    await settle()
    engine.received({ engine: 1, news: { type: 'dropped' } })
    await settle()
    expect(told()).toBe(3)
    drop(4)
    const closed = engine.close({ timeoutMs: 0 })
    await clock.advance(1000)
    await closed
    expect(told()).toBe(7)
  })

  it('about a record at which the worker stopped is a loss of that kind of record, and the next one is the next worker’s', async () => {
    for (const [deadly, index] of [
      ['log', 0],
      ['value', 1],
      ['keyed value', 1],
    ] as const) {
      const { errors, thread, engine, log, serve } = startHandOff()
      // The style of the logger is in the pipe before its line.
      log('before')
      await serve()
      if (deadly === 'log') log('deadly')
      else if (deadly === 'value') engine.value(1, 0)
      else engine.keyedValue({ eventId: 1, milliseconds: 0, key: 'k' })
      engine.value(2, 0)
      await settle()
      thread.die('before the count')
      expect(engine.stats().lanes[index]!.dropped.unreadable).toBe(1)
      expect(engine.stats()).toMatchObject({ accepted: 3, delivered: 1, queued: 1 })
      await settle()
      expect(errors.join()).toContain('(unreadable)')
      thread.restart()
      await serve()
      expect(thread.delivered).toEqual(['{"msg":"before"}', 'v2'])
    }
  })

  it('about a record that the worker had counted when it stopped is that it went with the worker', async () => {
    const { thread, engine, serve } = startHandOff()
    engine.value(1, 0)
    engine.value(2, 0)
    await settle()
    thread.die('behind the count')
    expect(engine.stats()).toMatchObject({ accepted: 2, queued: 1, dropped: { unreadable: 0, 'worker-failed': 1 } })
    thread.restart()
    await serve()
    expect(thread.delivered).toEqual(['v2'])
  })

  it('about the style of a logger at which the worker stopped is nothing: its lines are delivered', async () => {
    const { thread, engine, log, serve } = startHandOff()
    log('a line')
    await settle()
    thread.die('before the count')
    expect(engine.stats()).toMatchObject({ accepted: 1, queued: 1 })
    thread.restart()
    await serve()
    expect(thread.delivered).toEqual(['{"msg":"a line"}'])
  })

  it('about a long line in whose middle the worker stopped is a loss, too, once', async () => {
    const { thread, engine, log, serve } = startHandOff({ pipeBytes: 4096 })
    log('before')
    await serve()
    log('x'.repeat(2500))
    engine.value(1, 0)
    await settle()
    thread.die('before the count')
    expect(engine.stats()).toMatchObject({ accepted: 3, delivered: 1, queued: 2 })
    thread.restart()
    await serve()
    expect(thread.delivered).toEqual(['{"msg":"before"}', 'v1'])
    expect(engine.stats()).toMatchObject({ accepted: 3, delivered: 2, queued: 0, dropped: { unreadable: 1 } })
  })

  it('is busy while records are on their way to the worker or with it', async () => {
    const { thread, engine, serve } = startHandOff()
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
