import { describe, expect, it, vi } from 'vitest'
import { LedgerBook } from '../../src/delivery/ledger-book.js'
import { all, startHandOff } from '../support/hand-off.js'
import { settle } from '../support/virtual-clock.js'

const events = (lines: readonly string[]) => lines.map((line) => Number(/^v(\d+),/.exec(line)?.[1]))

describe('a hand-off whose worker starts slowly', () => {
  it('keeps the records, and hands them over in order when the worker takes lines', async () => {
    const { thread, engine, serve } = startHandOff({ up: false })
    for (const event of [1, 2]) engine.value(event, 0)
    await settle()
    engine.value(3, 0)
    expect(engine.stats()).toMatchObject({ accepted: 3, queued: 3 })
    thread.restart()
    await serve()
    expect(events(thread.delivered)).toEqual([1, 2, 3])
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
  it('hands over what it had not taken to the next one: styles of loggers first, newer records last', async () => {
    const { thread, engine, log, serve } = startHandOff()
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
    const { printed, codes, errors, thread, engine } = startHandOff()
    engine.value(1, 1)
    engine.value(2, 2)
    await settle()
    thread.take(2)
    thread.die(undefined)
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
    thread.die(undefined)
    expect(engine.stats()).toMatchObject({ accepted: 2, spooled, dropped: { 'worker-failed': lost } })
  })

  it('writes nothing to the next worker where nothing waits for it', () => {
    const { thread } = startHandOff()
    thread.die(undefined)
    const write = vi.spyOn(thread, 'write')
    thread.restart()
    expect(write).not.toHaveBeenCalled()
  })

  it('asks the next worker for a drain that the failed one had not answered', async () => {
    const { clock, thread, engine, serve } = startHandOff()
    engine.value(1, 0)
    let parked = false
    void engine.park({ timeoutMs: 3000 }).then(() => {
      parked = true
    })
    await clock.advance(2000)
    expect(clock.holding).toBe(1)
    thread.die(undefined)
    thread.restart()
    expect(thread.waiting.at(-1)).toMatch(/^k\d+,1000$/)
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

describe('what a hand-off says', () => {
  it('is the same whatever its mode: a closed one refuses records of every kind', async () => {
    const { engine, log, serve } = startHandOff()
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
    engine.received({ engine: 1, type: 'news', news: { type: 'outage', lane, about: { reason: 'out of reach' } } })
    await settle()
    expect(errors.join()).toContain('out of reach')
  })

  it('says how many records the worker has dropped, each once, also where its last news are not read', async () => {
    const { clock, errors, engine } = startHandOff()
    const book = new LedgerBook(engine.lanes, engine.memory)
    const drop = (count: number) => book.move(0, 'taken', 'queue-full', count, 0)
    const told = () => errors.reduce((sum, text) => sum + Number(/^(\d+) log records? dropped/.exec(text)?.[1] ?? 0), 0)
    drop(3)
    engine.received({ engine: 1, type: 'news', news: { type: 'dropped' } })
    await settle()
    engine.received({ engine: 1, type: 'news', news: { type: 'dropped' } })
    await settle()
    expect(told()).toBe(3)
    drop(4)
    const closed = engine.close({ timeoutMs: 0 })
    await clock.advance(1000)
    await closed
    expect(told()).toBe(7)
  })

  it('about a line at which the worker stopped is a loss of that kind of record', async () => {
    for (const [kind, index] of [
      ['logs', 0],
      ['values', 1],
    ] as const) {
      const { thread, engine, log } = startHandOff()
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
