import { createSluice, flush, type Sluice } from 'sluice'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { FaultServer } from '../../support/fault-server.js'

let server: FaultServer
let sluice: Sluice
beforeEach(async () => {
  server = await FaultServer.start()
})
afterEach(async () => {
  vi.useRealTimers()
  await sluice.close({ timeoutMs: 0 })
  await server.close()
})

describe.each(['worker', 'inline'] as const)('fake timers of a test, with delivery by %s', (mode) => {
  const start = () => {
    sluice = createSluice({ url: server.url, apiKey: 'k', bucket: 'b', mode, onError: () => {} })
    vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'performance', 'Date'] })
  }

  it('do not stop delivery, neither while they are there nor afterwards', async () => {
    start()
    sluice.track(1)
    expect(await sluice.flush()).toMatchObject({ accepted: 1, delivered: 1 })
    sluice.track(2)
    vi.useRealTimers()
    sluice.track(3)
    expect(await sluice.flush()).toMatchObject({ accepted: 3, delivered: 3 })
  })

  it('do not stop the flush of the whole process', async () => {
    start()
    sluice.track(1)
    await flush()
    expect(sluice.stats()).toMatchObject({ accepted: 1, delivered: 1 })
  })

  it('do not hold a flush beyond its deadline', async () => {
    server.script = () => ({ type: 'silence' })
    start()
    sluice.track(1)
    expect(await sluice.flush({ timeoutMs: 300 })).toMatchObject({ accepted: 1, delivered: 0 })
  })
})
