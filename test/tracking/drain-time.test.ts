import { createSluice, flush } from 'sluice'
import { describe, expect, it } from 'vitest'

const odd = [0, -1, Number.NaN, Number.NEGATIVE_INFINITY, '5', {}, null, 10n, Symbol('time'), () => 5]

describe('an invalid time', () => {
  it.each(odd)('%s: flush() and close() resolve, and the ledger is settled', async (time) => {
    const timeoutMs = time as number
    const setting = {
      url: 'http://127.0.0.1:1',
      apiKey: 'k',
      bucket: 'b',
      mode: 'inline',
      shutdownTimeoutMs: 30,
    } as const
    const sluice = createSluice({ ...setting, appName: String(time) })
    sluice.track(1)
    expect(await sluice.flush({ timeoutMs })).toMatchObject({ accepted: 1, delivered: 0 })
    expect(await flush({ timeoutMs })).toMatchObject({ delivered: 0 })
    const { queued, inFlight, dropped } = await sluice.close({ timeoutMs })
    expect({ queued, inFlight, shutdown: dropped.shutdown }).toEqual({ queued: 0, inFlight: 0, shutdown: 1 })
  })
})
