import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Engine } from '../../src/engine/engine.js'
import { configure } from '../../src/process/configure.js'
import { ProcessEngines } from '../../src/process/process-engines.js'
import { FakeProcess } from '../support/fake-process.js'
import { delivered, FaultServer } from '../support/fault-server.js'

let server: FaultServer
let engine: Engine
/** The registries of two threads: the engine is there, and drains are asked for here. */
let here: ProcessEngines
let there: ProcessEngines
beforeEach(async () => {
  server = await FaultServer.start(() => ({ type: 'silence' }))
  const options = {
    url: server.url,
    apiKey: 'k',
    bucket: 'b',
    requestTimeoutMs: 50,
    shutdownTimeoutMs: 1000,
    retryBaseMs: 30_000,
  }
  engine = new Engine(configure(options, 'logs').options)
  engine.value(1001, Date.now())
  here = new ProcessEngines({ host: new FakeProcess() })
  there = new ProcessEngines({ host: new FakeProcess() })
  there.add(engine)
  await turn()
  await here.drain('park', 1000)
})
afterEach(async () => {
  await engine.close({ timeoutMs: 0 })
  there.retire(engine)
  await server.close()
})

it('records that had their time before an end that did not come have it again in a close that names a time', async () => {
  expect(engine.stats()).toMatchObject({ delivered: 0 })
  server.script = () => delivered
  expect(await engine.close({ timeoutMs: 5000 })).toMatchObject({ delivered: 1 })
})

it('what has had its time is not waited for again where no time is named, but what came since is', async () => {
  engine.value(1002, Date.now())
  server.script = () => delivered
  expect(await engine.close({ timeoutMs: there.budget.remaining(engine) })).toMatchObject({ delivered: 2 })
})

it('what has had its time is given up at once where no time is named', async () => {
  // A request that is still on its way would be answered.
  while (engine.stats().inFlight > 0) await turn()
  server.script = () => delivered
  const timeoutMs = there.budget.remaining(engine)
  expect(timeoutMs).toBe(0)
  expect(await engine.close({ timeoutMs })).toMatchObject({ delivered: 0, dropped: { shutdown: 1 } })
})
