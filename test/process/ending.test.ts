import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { setCapture } from '../../src/process/capture.js'
import { Ending } from '../../src/process/ending.js'
import { ProcessEngines } from '../../src/process/process-engines.js'
import { ShutdownBudget } from '../../src/process/shutdown-budget.js'
import { FakeEngine } from '../support/fake-engine.js'
import { FakeProcess } from '../support/fake-process.js'

let host: FakeProcess
let engines: ProcessEngines
let printed: string[]
beforeEach(() => {
  host = new FakeProcess()
  let beganAt: number | undefined
  const end = {
    get beganAt() {
      return beganAt
    },
    begin(at: number) {
      beganAt ??= at
    },
  }
  engines = new ProcessEngines({ budget: new ShutdownBudget({ end }), host: new FakeProcess() })
  printed = []
  new Ending(engines, { host: host.host, print: (text) => void printed.push(text) }).install()
})
afterEach(() => {
  setCapture(undefined)
  for (const engine of engines.local) engines.retire(engine)
})

function registered(...setting: ConstructorParameters<typeof FakeEngine>): FakeEngine {
  const engine = new FakeEngine(...setting)
  engines.add(engine)
  return engine
}

const modes = (engine: FakeEngine) => engine.drains.map(([mode]) => mode)

async function beforeExit(): Promise<void> {
  host.emit('beforeExit')
  await turn()
}

describe('a natural end', () => {
  it('flushes each engine once: records that had their time are not flushed again', async () => {
    const engine = registered()
    engine.accept()
    await beforeExit()
    await beforeExit()
    expect(engine.drains).toEqual([['flush', 1000]])
  })

  it('flushes again for records that came since, three times at most', async () => {
    const engine = registered()
    for (let round = 0; round < 5; round++) {
      engine.accept()
      await beforeExit()
    }
    expect(modes(engine)).toEqual(['flush', 'flush', 'flush'])
    expect(engine.isEnding).toBe(true)
  })

  it('waits for nothing at the exit that had its time before, and reports it', async () => {
    const engine = registered()
    engine.accept(2)
    await beforeExit()
    host.emit('exit')
    expect(engine.drains).toEqual([
      ['flush', 1000],
      ['endSync', 0],
    ])
    expect(printed).toEqual(['2 records not delivered before the end of the process'])
  })

  it('leaves a closed engine alone', async () => {
    const engine = registered()
    engine.accept()
    void engine.close()
    await beforeExit()
    expect(modes(engine)).toEqual(['close'])
  })
})

describe('an exit', () => {
  it('delivers what was logged in the listeners of the application, whenever they were added', async () => {
    const engine = registered()
    engine.delivers = true
    host.on('exit', () => engine.accept())
    await turn()
    host.emit('exit')
    expect(modes(engine)).toEqual(['endSync'])
    expect(engine.stats()).toMatchObject({ delivered: 1, queued: 0 })
    expect(printed).toEqual([])
  })

  it('lets another thread deliver before the listeners of the application run', () => {
    const engine = registered({}, { parksElsewhere: true })
    engine.accept()
    const left: number[] = []
    host.on('exit', () => left.push(engine.stats().queued))
    const park = vi.spyOn(engine, 'beforeEnd').mockImplementation(() => {
      engine.deliver()
      return true
    })
    host.emit('exit')
    expect(park).toHaveBeenCalledOnce()
    expect(left).toEqual([0])
  })

  it('leaves the last place after three rounds to a library that keeps it by the same means', async () => {
    let rounds = 0
    const rival = () => {}
    host.on('newListener', (event, added) => {
      if (event !== 'exit' || added === rival || ++rounds > 100) return
      process.nextTick(() => {
        host.off('exit', rival)
        host.on('exit', rival)
      })
    })
    host.on('exit', rival)
    await turn()
    expect(rounds).toBeLessThan(5)
    expect(host.listeners('exit').at(-1)).toBe(rival)
  })

  it('shows the ledger of an engine with debug', () => {
    registered({ debug: true })
    host.emit('exit')
    expect(printed).toEqual([expect.stringMatching(/^ledger accepted=0 /)])
  })
})

describe('a signal', () => {
  it('drains every engine, reports the rest, and is raised again', async () => {
    const [fine, stuck] = [registered(), registered()]
    fine.delivers = true
    fine.accept()
    stuck.accept()
    const raised = new Promise((resolve) => host.once('raised', resolve))
    engines.changeSignals('start')
    host.emit('SIGTERM')
    expect(await raised).toBe('SIGTERM')
    expect([modes(fine), modes(stuck)]).toEqual([['park'], ['park']])
    expect(printed).toEqual(['1 record not delivered before the end of the process'])
  })

  it('is the application’s when any engine has handleSignals: false', () => {
    registered({ handleSignals: false })
    engines.changeSignals('start')
    expect(host.listenerCount('SIGTERM')).toBe(0)
  })
})
