import { ConfigError, createSluice, type SluiceError } from 'sluice'
import { pinoTarget, sluicePino } from 'sluice/pino'
import { SluiceTransport } from 'sluice/winston'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { closedPort } from '../support/content-client.js'
import { FaultServer } from '../support/fault-server.js'
import { full } from '../support/full.js'
import { startTestReceiver, type TestReceiver } from '../support/receiver.js'
import { collector, delivered, matrix, modes, trackerOf, turn, type WaitUntil } from '../support/wait-until.js'

let receiver: TestReceiver
beforeEach(async () => {
  receiver = await startTestReceiver()
})
afterEach(() => receiver.close())

describe('the option waitUntil', () => {
  it.each(matrix)('of %s gets one promise for the records of a turn, mode %s', async (_, mode, way) => {
    const { promises, waitUntil } = collector()
    const record = way({ ...receiver.options, mode, waitUntil })
    for (const number of [1, 2, 3]) record(number)
    await Promise.resolve()
    record(4)
    expect(promises).toHaveLength(1)
    expect(await promises[0]).toBeUndefined()
    expect(await delivered(receiver)).toEqual([1, 2, 3, 4])
  })

  it.each(modes)('gets another promise for a later turn, while the first is open, mode %s', async (mode) => {
    const { promises, waitUntil } = collector()
    const record = trackerOf({ ...receiver.options, mode, waitUntil })
    record(1)
    await turn()
    record(2)
    await turn()
    expect(promises).toHaveLength(2)
    await promises[1]
    expect(await delivered(receiver)).toEqual([1, 2])
  })

  it.each(modes)('gets a promise that resolves by the deadline while the service is down, mode %s', async (mode) => {
    const { promises, waitUntil } = collector()
    const url = `http://127.0.0.1:${await closedPort()}`
    const sluice = createSluice({ ...receiver.options, url, mode, shutdownTimeoutMs: 300, waitUntil, onError() {} })
    const start = performance.now()
    sluice.track(1)
    await promises[0]
    expect(performance.now() - start).toBeLessThan(2000)
    expect(sluice.stats()).toMatchObject({ accepted: 1, delivered: 0, dropped: { shutdown: 0 } })
    await sluice.close({ timeoutMs: 0 })
  })

  it.runIf(full).each(modes)('makes few attempts for many turns while the service is down, mode %s', async (mode) => {
    const server = await FaultServer.start(() => ({ type: 'answer', status: 503 }))
    const { promises, waitUntil } = collector()
    const options = { url: server.url, apiKey: 'k', bucket: 'b', mode, shutdownTimeoutMs: 2000, onError() {} }
    const record = trackerOf({ ...options, waitUntil })
    for (let number = 0; number < 2000; number++) {
      record(number)
      await turn()
    }
    expect(promises).toHaveLength(2000)
    await Promise.all(promises)
    // One for each of the first 50 turns, then one in 40 ms at most, and those of the delivery itself.
    expect(server.requests.length).toBeLessThan(300)
    await server.close()
  })

  it('gives promises of many turns that all resolve when the records are settled', async () => {
    const { promises, waitUntil } = collector()
    const record = trackerOf({ ...receiver.options, mode: 'worker', shutdownTimeoutMs: 8000, waitUntil })
    for (let number = 0; number < 200; number++) {
      record(number)
      await turn()
    }
    await promises.at(-1)
    expect(await delivered(receiver)).toHaveLength(200)
    await Promise.all(promises)
  })

  const failures: readonly (readonly [string, WaitUntil])[] = [
    [
      'throws',
      () => {
        throw new Error('too late')
      },
    ],
    ['rejects', (() => Promise.reject(new Error('too late'))) as unknown as WaitUntil],
  ]
  const failing = failures.flatMap(([how, waitUntil]) => modes.map((mode) => [how, mode, waitUntil] as const))

  it.each(failing)('that %s is reported once, and its records are delivered, mode %s', async (_, mode, waitUntil) => {
    const errors: SluiceError[] = []
    const onError = (error: SluiceError) => void errors.push(error)
    const sluice = createSluice({ ...receiver.options, mode, waitUntil, onError })
    sluice.track(1)
    await turn()
    sluice.track(2)
    await sluice.close()
    expect(errors).toMatchObject([
      { code: 'SLUICE_WAIT_UNTIL', message: 'waitUntil failed, records are kept: too late' },
    ])
    expect(await delivered(receiver)).toEqual([1, 2])
  })

  it.each(modes)('may log itself, mode %s', async (mode) => {
    const { promises, waitUntil } = collector()
    const record = trackerOf({
      ...receiver.options,
      mode,
      waitUntil(promise) {
        waitUntil(promise)
        record(2)
      },
    })
    record(1)
    expect(promises).toHaveLength(1)
    await promises[0]
    expect(await delivered(receiver)).toEqual([1, 2])
  })

  it.each(modes)(
    'is called once in a turn for all loggers that share it, and not after a close, mode %s',
    async (mode) => {
      const { promises, waitUntil } = collector()
      const options = { ...receiver.options, mode, waitUntil }
      const sluice = createSluice(options)
      const record = trackerOf(options)
      sluice.track(1)
      record(2)
      expect(promises).toHaveLength(1)
      await sluice.close()
      sluice.track(3)
      expect(promises).toHaveLength(1)
      record(4)
      expect(promises).toHaveLength(2)
    },
  )

  it.each(modes)('of a logger is not called for others once it is closed, mode %s', async (mode) => {
    const [closed, open] = [collector(), collector()]
    const record = trackerOf({ ...receiver.options, mode, waitUntil: open.waitUntil })
    const sluice = createSluice({ ...receiver.options, mode, waitUntil: closed.waitUntil })
    record(1)
    await sluice.close()
    record(2)
    expect([closed.promises.length, open.promises.length]).toEqual([1, 2])
  })

  it('that is no function is a mistake that names it', () => {
    const options = { ...receiver.options, waitUntil: 'request' as unknown as WaitUntil }
    for (const make of [() => sluicePino(options), () => new SluiceTransport(options), () => createSluice(options)]) {
      expect(make).toThrow(ConfigError)
      expect(make).toThrow('option waitUntil: expected a function, got "request"')
    }
  })

  it('is a mistake in a pino target, as onError is', async () => {
    for (const option of ['waitUntil', 'onError']) {
      await expect(pinoTarget({ ...receiver.options, [option]: () => {} })).rejects.toThrow(
        new RegExp(`option ${option}: expected no function in a pino target`),
      )
    }
  })
})
