import { describe, expect, it } from 'vitest'
import { all, startHandOff } from '../support/hand-off.js'
import { settle } from '../support/virtual-clock.js'

const events = (lines: readonly string[]) => lines.map((line) => Number(/^v(\d+),/.exec(line)?.[1]))

describe('the close of a hand-off without a worker', () => {
  it('counts the records that are left as dropped by `shutdown`, and later ones as `closed`', async () => {
    const { clock, thread, engine } = startHandOff()
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
    const { clock, thread, engine, serve } = startHandOff()
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
    thread.die(undefined)
    engine.value(1, 0)
    const closing = engine.close({ timeoutMs: 1000 })
    await clock.advance(1010)
    await closing
    log('late')
    expect(await engine.flush()).toMatchObject({ accepted: 2, dropped: { shutdown: 1, closed: 1 } })
    expect(engine.busy).toBe(false)
  })
})

describe('the end of a process with a hand-off', () => {
  it('begins early where a worker takes lines: the worker has all of them when the call returns', async () => {
    const { thread, engine } = startHandOff()
    engine.value(1, 0)
    expect(engine.beforeEnd()).toBe(true)
    expect(events(thread.delivered)).toEqual([1])
  })

  it('begins no earlier where no worker takes lines: nothing asks for one, or keeps the process alive', () => {
    const { clock, thread, engine } = startHandOff()
    thread.die(undefined)
    engine.value(1, 0)
    expect(engine.beforeEnd()).toBe(false)
    expect({ hurried: thread.hurried, holding: clock.holding }).toEqual({ hurried: 0, holding: 0 })
  })

  it('gives the worker its time, and waits for none that gets stuck', () => {
    const { thread, engine } = startHandOff()
    thread.reachSync = () => true
    thread.handOverSync = () => false
    expect(engine.endSync({ timeoutMs: 1200 })(0)).toBe(true)
    expect(thread.waiting).toEqual(['c0,1200'])
  })

  it('gathers the records of a process without work for 50 ms, which does not keep it alive', async () => {
    const { clock, thread, engine } = startHandOff()
    engine.ending()
    engine.value(1, 0)
    await clock.advance(49)
    expect(thread.waiting).toEqual([])
    expect(clock.holding).toBe(0)
    await clock.advance(1)
    expect(thread.waiting).toHaveLength(1)
  })

  it('hands over and closes the engine in the worker', () => {
    const { thread, engine } = startHandOff()
    engine.value(1, 0)
    const step = engine.endSync({ timeoutMs: 1000 })
    expect(step(0)).toBe(true)
    expect(events(thread.delivered)).toEqual([1])
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
    thread.onReach = () => thread.die(undefined)
    engine.endSync({ timeoutMs: 1000 })
    expect(errors).toContain('1 value record dropped (worker-failed): the delivery worker has failed')
  })

  it('waits for the worker’s close until a quarter of its time after its deadline', () => {
    const { clock, thread, engine } = startHandOff()
    engine.value(1, 0)
    thread.answer = () => {}
    const step = engine.endSync({ timeoutMs: 1000 })
    clock.block(1249)
    expect(step(0)).toBe(false)
    clock.block(1)
    expect(step(0)).toBe(true)
  })

  it('reaches another worker where the first has failed', () => {
    const { thread, engine } = startHandOff()
    thread.die(undefined)
    engine.value(1, 0)
    expect(engine.endSync({ timeoutMs: 1000 })(0)).toBe(true)
    expect(events(thread.delivered)).toEqual([1])
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
