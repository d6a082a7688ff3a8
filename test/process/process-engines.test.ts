import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ProcessEngines } from '../../src/process/process-engines.js'
import { FakeEngine } from '../support/fake-engine.js'
import { FakeProcess } from '../support/fake-process.js'

/** Two registries, each as one thread of the process: they talk through the real channel. */
let here: ProcessEngines
let there: ProcessEngines
let engine: FakeEngine
beforeEach(async () => {
  here = new ProcessEngines({ host: new FakeProcess() })
  there = new ProcessEngines({ host: new FakeProcess() })
  engine = new FakeEngine()
  there.add(engine)
  await turn()
})

afterEach(() => {
  for (const thread of [here, there]) for (const each of thread.local) thread.retire(each)
})

const found = () => here.remote.known.find(({ id }) => id === engine.id)

/** Until the messages so far have been answered. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await turn()
}

describe('an engine of another thread', () => {
  it('is known here, with its counts', () => {
    engine.accept(3)
    expect(found()?.stats()).toMatchObject({ accepted: 3, queued: 3 })
    expect(here.stats().accepted).toBeGreaterThanOrEqual(3)
  })

  it('is drained from here, within the time of the drain', async () => {
    engine.accept()
    engine.delivers = true
    await here.drain('flush', 300)
    const [[mode, timeoutMs]] = engine.drains as [(typeof engine.drains)[0]]
    expect(mode).toBe('flush')
    expect(timeoutMs).toBeLessThanOrEqual(300)
    expect(found()?.stats()).toMatchObject({ delivered: 1 })
  })

  it('has its time once: a close that names none gets what a parking has left', async () => {
    engine.accept()
    void here.drain('park', 200)
    await until(() => engine.drains.some(([mode]) => mode === 'park'))
    expect(there.budget.remaining(engine)).toBeLessThanOrEqual(200)
    engine.accept()
    expect(there.budget.remaining(engine)).toBe(1000)
  })

  it('keeps its counts in the ledger of the process when it has closed', async () => {
    engine.accept()
    engine.deliver()
    const { delivered } = here.stats()
    there.retire(engine)
    await until(() => found() === undefined)
    expect(here.stats().delivered).toBe(delivered)
  })

  it('is waited for by no drain once it is gone', async () => {
    engine.accept()
    engine.flush = () => new Promise(() => {})
    const drained = here.drain('flush', 60_000)
    await turn()
    there.retire(engine)
    expect(await drained).toBeDefined()
  })
})

it('the longest shutdownTimeoutMs of all threads is that of the process', async () => {
  here.add(new FakeEngine({ shutdownTimeoutMs: 7000 }))
  there.add(new FakeEngine({ shutdownTimeoutMs: 9000 }))
  await turn()
  expect(here.shutdownTimeoutMs).toBe(9000)
})
