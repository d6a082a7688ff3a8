import { describe, expect, it } from 'vitest'
import { enginePlan } from '../../src/hand-off/protocol.js'
import { configure } from '../../src/process/configure.js'

describe('the plan of an engine in the worker', () => {
  const setting = {
    memory: new SharedArrayBuffer(8),
    pipe: new SharedArrayBuffer(16),
    drains: new SharedArrayBuffer(32),
    styles: ['{"messageKey":"m"}'],
    diskIsStalled: true,
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

  it('names the memory that the workers of the engine share, and what the next one must know', () => {
    expect(planOf({})).toMatchObject(setting)
    for (const name of ['memory', 'pipe', 'drains'] as const) expect(planOf({})[name]).toBe(setting[name])
  })

  it('names the folder of the spool as this thread sees it, and leaves debugging to this thread', () => {
    const { options } = planOf({ spoolDir: 'some-folder' })
    expect(options.spoolDir).toBe(`${process.cwd()}/some-folder`)
    expect(options.debug).toBe(false)
  })
})
