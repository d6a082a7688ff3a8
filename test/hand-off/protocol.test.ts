import { describe, expect, it } from 'vitest'
import { ClosedFlag, enginePlan } from '../../src/hand-off/protocol.js'
import { configure } from '../../src/process/configure.js'
import { systemClock } from '../../src/runtime/clock.js'
import { VirtualClock } from '../support/virtual-clock.js'

describe('the plan of an engine in the worker', () => {
  const setting = {
    memory: new SharedArrayBuffer(8),
    closed: new SharedArrayBuffer(4),
    diskIsStalled: false,
  }
  const planOf = (more: { spoolDir?: string }) => {
    const { options } = configure({ url: 'http://127.0.0.1:1', apiKey: 'secret', bucket: 'b', ...more }, 'values')
    return enginePlan({ ...options, debug: true, onError: () => {}, waitUntil: () => {} }, setting)
  }

  it('can cross to another thread: without functions, with the key as text', () => {
    const plan = planOf({})
    expect(plan.apiKey).toEqual({ text: 'secret', file: undefined })
    expect(structuredClone(plan.options)).toEqual(plan.options)
    expect(plan.options).toMatchObject({ spoolDir: undefined })
  })

  it('names the folder of the spool as this thread sees it, and leaves debugging to this thread', () => {
    const { options } = planOf({ spoolDir: 'some-folder' })
    expect(options.spoolDir).toBe(`${process.cwd()}/some-folder`)
    expect(options.debug).toBe(false)
  })
})

describe('the flag of a closed engine', () => {
  it('ends the wait when it is raised, from any thread', () => {
    const flag = new ClosedFlag()
    const step = flag.wait(systemClock, 5000)
    expect(step(0)).toBe(false)
    new ClosedFlag(flag.memory).raise()
    expect(step(5000)).toBe(true)
  })

  it('ends the wait a quarter of the time after the deadline, without blocking any more', () => {
    const clock = new VirtualClock()
    const step = new ClosedFlag().wait(clock, 1000)
    const before = performance.now()
    expect(step(20)).toBe(false)
    expect(performance.now() - before).toBeGreaterThanOrEqual(19)
    clock.block(1249)
    expect(step(0)).toBe(false)
    clock.block(1)
    const after = performance.now()
    expect(step(5000)).toBe(true)
    expect(performance.now() - after).toBeLessThan(1000)
  })
})
