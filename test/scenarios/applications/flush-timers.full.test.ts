import { createHook } from 'node:async_hooks'
import { createSluice, flush } from 'sluice'
import { expect, it } from 'vitest'
import { startTestReceiver } from '../../support/receiver.js'

it.each(['worker', 'inline'] as const)('a flush leaves no timer behind, mode %s', async (mode) => {
  const receiver = await startTestReceiver()
  const { SLUICE_URL: url, SLUICE_API_KEY: apiKey, SLUICE_BUCKET: bucket } = receiver.variables
  const sluice = createSluice({ url, apiKey, bucket, mode })
  await sluice.flush()
  const timers = new Set<number>()
  const hook = createHook({
    init: (id, type) => void (type === 'Timeout' && timers.add(id)),
    destroy: (id) => void timers.delete(id),
  }).enable()
  for (let turn = 0; turn < 50; turn++) {
    await sluice.flush({ timeoutMs: 60_000 })
    await flush({ timeoutMs: 60_000 })
  }
  await new Promise((resolve) => setImmediate(resolve))
  hook.disable()
  expect(timers.size).toBeLessThan(5)
  await sluice.close()
  await receiver.close()
})
