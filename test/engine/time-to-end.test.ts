import { afterEach, beforeEach, expect, it } from 'vitest'
import { Engine } from '../../src/engine/engine.js'
import { configure } from '../../src/process/configure.js'
import { delivered, FaultServer } from '../support/fault-server.js'

let server: FaultServer
let engine: Engine
beforeEach(async () => {
  server = await FaultServer.start(() => ({ type: 'silence' }))
  const options = { url: server.url, apiKey: 'k', bucket: 'b', requestTimeoutMs: 50, shutdownTimeoutMs: 200 }
  engine = new Engine(configure(options, 'logs').options)
  engine.value(1001, Date.now())
})
afterEach(async () => {
  await engine.close({ timeoutMs: 0 })
  await server.close()
})

it('records that had their time before an end that did not come have it again in a close that names a time', async () => {
  expect(await engine.park()).toMatchObject({ delivered: 0 })
  server.script = () => delivered
  expect(await engine.close({ timeoutMs: 5000 })).toMatchObject({ delivered: 1 })
})

it('what has had its time is not waited for again where no time is named, but what came since is', async () => {
  await engine.park()
  engine.value(1002, Date.now())
  server.script = () => delivered
  expect(await engine.close()).toMatchObject({ delivered: 2 })
})

it('what has had its time is given up at once where no time is named', async () => {
  await engine.park()
  server.script = () => delivered
  expect(await engine.close()).toMatchObject({ delivered: 0, dropped: { shutdown: 1 } })
})
