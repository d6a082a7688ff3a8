import { describe, expect, it } from 'vitest'
import { ControlBlock } from '../../src/control/control-block.js'
import { PipeMemory } from '../../src/pipe/pipe-memory.js'
import { PipeReader } from '../../src/pipe/pipe-reader.js'
import { all, startHandOff } from '../support/hand-off.js'
import { NotingSink } from '../support/pipe.js'
import { settle } from '../support/virtual-clock.js'

describe('the close of a hand-off without a worker', () => {
  it('counts the records that are left as dropped by `shutdown`, and later ones as `closed`', async () => {
    const { clock, thread, engine } = startHandOff()
    engine.value(1, 0)
    await settle()
    thread.die()
    engine.value(2, 0)
    const closing = engine.close({ timeoutMs: 500 })
    engine.value(3, 0)
    await clock.advance(510)
    expect(await closing).toMatchObject({ accepted: 3, queued: 0, dropped: { shutdown: 2, closed: 1 } })
    expect(await engine.close()).toBe(await closing)
    expect(thread.ended).toBe(1)
  })

  it('continues in a worker that starts in time, with the rest of its time', async () => {
    const { clock, thread, engine, serve } = startHandOff()
    thread.die()
    engine.value(1, 0)
    const closing = engine.close({ timeoutMs: 5000 })
    await clock.advance(2000)
    thread.restart()
    expect(thread.asks).toMatchObject([{ mode: 'close', until: 5000, after: 1 }])
    await serve()
    expect(await closing).toMatchObject({ accepted: 1, delivered: 1 })
    expect(clock.holding).toBe(0)
  })
})

describe('a hand-off that is closed', () => {
  it('answers every drain at once, though the worker had kept a record', async () => {
    const { clock, thread, engine } = startHandOff()
    engine.value(1, 0)
    await settle()
    thread.take(all)
    const closing = engine.close({ timeoutMs: 300 })
    await clock.advance(310)
    await closing
    expect(await engine.flush()).toMatchObject({ accepted: 1, queued: 0, dropped: { shutdown: 1 } })
    expect({ hurried: thread.hurried, holding: clock.holding }).toEqual({ hurried: 0, holding: 0 })
  })

  it('keeps nothing of a new logger’s line, which it refuses', async () => {
    const { clock, thread, engine, log } = startHandOff()
    thread.die()
    engine.value(1, 0)
    const closing = engine.close({ timeoutMs: 1000 })
    await clock.advance(1010)
    await closing
    log('late')
    expect(engine.plan({ diskIsStalled: false }).styles).toEqual([])
    expect(await engine.flush()).toMatchObject({ accepted: 2, dropped: { shutdown: 1, closed: 1 } })
  })

  it('hands over nothing more, though the worker that other engines keep makes room', async () => {
    const { clock, machine, thread, engine, log } = startHandOff({ pipeBytes: 4096 })
    thread.stuck = true
    for (let line = 0; line < 50; line++) log('x'.repeat(300))
    const closing = engine.close({ timeoutMs: 0 })
    await clock.advance(10)
    expect(await closing).toMatchObject({ accepted: 50, dropped: { shutdown: 50 } })
    const pipe = PipeMemory.open(engine.plan({ diskIsStalled: false }).pipe, machine.bell)!
    new PipeReader(pipe).take(new NotingSink(), all)
    expect(pipe.get('read')).toBe(pipe.get('written'))
  })

  it('lets go of the drains that had more time than the close', async () => {
    const { clock, thread, engine } = startHandOff()
    engine.value(1, 0)
    thread.stuck = true
    let resolved = 0
    void engine.flush({ timeoutMs: 60_000 }).then(() => resolved++)
    void engine.close({ timeoutMs: 300 }).then(() => resolved++)
    void engine.park({ timeoutMs: 60_000 }).then(() => resolved++)
    await clock.advance(309)
    expect(resolved).toBe(0)
    await clock.advance(1)
    expect(resolved).toBe(3)
    expect(clock.holding).toBe(0)
  })

  it('still wants its close of a worker that had no time for it: other engines keep that worker', async () => {
    const { clock, thread, engine } = startHandOff()
    thread.stuck = true
    const { drains } = engine.plan({ diskIsStalled: false })
    const closing = engine.close({ timeoutMs: 0 })
    await clock.advance(10)
    await closing
    const asked: string[] = []
    new ControlBlock(drains).whenAsked(({ mode }) => asked.push(mode))()
    expect(asked).toEqual(['close'])
  })
})

describe('the end of a process with a hand-off', () => {
  it('begins early where a worker takes records: it sees all of them when the call returns, and is asked to park', () => {
    const { thread, engine } = startHandOff()
    engine.value(1, 0)
    expect(engine.beforeEnd()).toBe(true)
    expect(thread.waiting).toEqual(['v1'])
    expect(thread.asks).toMatchObject([{ mode: 'park', after: 1 }])
  })

  it('begins early with records for which the ring had no room: the worker sees them all when the call returns', () => {
    const { thread, engine, log } = startHandOff({ pipeBytes: 4096 })
    for (let line = 0; line < 50; line++) log('x'.repeat(300))
    expect(engine.beforeEnd()).toBe(true)
    expect(thread.delivered.length).toBeGreaterThan(0)
    expect(thread.delivered.length + thread.waiting.length).toBe(50)
  })

  it('does not begin early where the worker is stuck, or takes no more than its ring has', () => {
    const { thread, engine, log } = startHandOff({ pipeBytes: 4096 })
    thread.stuck = true
    engine.value(1, 0)
    expect(engine.beforeEnd()).toBe(false)
    thread.answersSync = () => true
    expect(engine.beforeEnd()).toBe(true)
    for (let line = 0; line < 50; line++) log('x'.repeat(300))
    expect(engine.beforeEnd()).toBe(false)
  })

  it('begins no earlier where no worker takes records: nothing asks for one, or keeps the process alive', () => {
    const { clock, thread, engine } = startHandOff()
    thread.die()
    engine.value(1, 0)
    expect(engine.beforeEnd()).toBe(false)
    expect({ hurried: thread.hurried, holding: clock.holding }).toEqual({ hurried: 0, holding: 0 })
  })

  it('gives the worker its time, behind the records that it has not taken', () => {
    const { clock, thread, engine } = startHandOff()
    clock.block(100)
    engine.value(1, 0)
    engine.value(2, 0)
    engine.endSync({ timeoutMs: 1200 })
    expect(thread.asks).toMatchObject([{ mode: 'close', until: 1300, brief: false, after: 2 }])
    expect(thread.waiting).toEqual(['v1', 'v2'])
  })

  it('lets a worker that makes no room in the ring close with what it has taken, and waits 50 ms for that', () => {
    const { clock, thread, engine, log } = startHandOff({ pipeBytes: 4096 })
    for (let line = 0; line < 50; line++) log('x'.repeat(300))
    thread.reachSync = () => true
    thread.stuck = true
    const step = engine.endSync({ timeoutMs: 0 })
    expect(thread.asks).toMatchObject([{ mode: 'close', after: 50 }])
    expect(step(0)).toBe(false)
    clock.block(50)
    expect(step(0)).toBe(true)
    expect(engine.stats()).toMatchObject({ accepted: 50, queued: 50 })
  })

  it('hands over all that the ring had no room for, as the worker makes room', () => {
    const { thread, engine, log } = startHandOff({ pipeBytes: 4096 })
    for (let line = 0; line < 50; line++) log('x'.repeat(300))
    log('x'.repeat(20_000))
    expect(engine.endSync({ timeoutMs: 1200 })(0)).toBe(true)
    expect(thread.delivered).toHaveLength(51)
    expect(engine.stats()).toMatchObject({ accepted: 51, delivered: 51 })
  })

  it('waits for a close under way, and asks for no other: a worker that closes hears no more', async () => {
    const { thread, engine } = startHandOff()
    engine.value(1, 0)
    void engine.close({ timeoutMs: 5000 })
    expect(thread.asks).toMatchObject([{ mode: 'close', until: 5000 }])
    const step = engine.endSync({ timeoutMs: 3000 })
    expect(thread.asks).toHaveLength(1)
    expect(step(0)).toBe(true)
    expect(engine.stats()).toMatchObject({ accepted: 1, delivered: 1 })
  })

  it('waits for no close that the worker has answered, even where nobody has read the answer', () => {
    const { thread, engine } = startHandOff()
    void engine.close({ timeoutMs: 5000 })
    thread.work()
    thread.stuck = true
    thread.reachSync = () => true
    expect(engine.endSync({ timeoutMs: 3000 })(0)).toBe(true)
  })

  it('gathers the records of a process without work for 50 ms, which does not keep it alive', async () => {
    const { clock, thread, engine } = startHandOff()
    engine.ending()
    engine.value(1, 0)
    await clock.advance(49)
    expect(thread.waiting).toEqual([])
    expect(clock.holding).toBe(0)
    await clock.advance(1)
    expect(thread.waiting).toEqual(['v1'])
  })

  it('hands over and closes the engine in the worker', () => {
    const { thread, engine } = startHandOff()
    engine.value(1, 0)
    const step = engine.endSync({ timeoutMs: 1000 })
    expect(step(0)).toBe(true)
    expect(thread.delivered).toEqual(['v1'])
  })

  it.each(['exits', 'is ended by a signal'])(
    'tells every drop before a process %s, also those that were held back',
    async (how) => {
      const { printed, errors, thread, engine, log, serve } = startHandOff({ maxQueueBytes: 2000 })
      const flood = () => {
        for (let number = 0; number < 50; number++) log('x'.repeat(100))
      }
      flood()
      await settle()
      expect(printed).toHaveLength(1)
      flood()
      if (how === 'exits') {
        thread.reachSync = () => false
        engine.endSync({ timeoutMs: 1000 })
      } else {
        const parked = engine.park({ timeoutMs: 1000 })
        await serve()
        await parked
      }
      const dropped = engine.stats().dropped['hand-off-full']
      const told = (texts: readonly string[]) => texts.reduce((sum, text) => sum + Number.parseInt(text, 10), 0)
      expect({ printed: told(printed), errors: told(errors) }).toEqual({ printed: dropped, errors: dropped })
    },
  )

  it('tells the losses of a worker that fails at the end', async () => {
    const { errors, thread, engine } = startHandOff()
    engine.value(1, 0)
    await settle()
    thread.take(all)
    thread.onReach = () => thread.die()
    engine.endSync({ timeoutMs: 1000 })
    expect(errors).toContain('1 value record dropped (worker-failed): the delivery worker has failed')
  })

  it('waits for the worker’s close until a quarter of its time after its deadline', () => {
    const { clock, thread, engine } = startHandOff()
    engine.value(1, 0)
    thread.stuck = true
    thread.reachSync = () => true
    const step = engine.endSync({ timeoutMs: 1000 })
    clock.block(1249)
    expect(step(0)).toBe(false)
    clock.block(1)
    expect(step(0)).toBe(true)
  })

  it('reaches another worker where the first has failed', () => {
    const { thread, engine } = startHandOff()
    thread.die()
    engine.value(1, 0)
    expect(engine.endSync({ timeoutMs: 1000 })(0)).toBe(true)
    expect(thread.delivered).toEqual(['v1'])
  })

  it('waits for no worker where none can be reached, and still counts the records as queued', () => {
    const { thread, engine } = startHandOff()
    thread.reachSync = () => false
    engine.value(1, 0)
    expect(engine.endSync({ timeoutMs: 1000 })(0)).toBe(true)
    expect(engine.stats()).toMatchObject({ accepted: 1, queued: 1 })
  })

  it('reports once the records that a close under way has dropped, even when the worker has not answered it in time', async () => {
    const { clock, printed, thread, engine } = startHandOff()
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
