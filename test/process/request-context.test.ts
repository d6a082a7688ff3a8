import { AsyncLocalStorage } from 'node:async_hooks'
import { createSluice, type SluiceError, track } from 'sluice'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { rowsOf } from '../support/full.js'
import { startTestReceiver, type TestReceiver } from '../support/receiver.js'
import { collector, delivered, matrix, modes, trackerOf, turn, type WaitUntil } from '../support/wait-until.js'

const vercel = Symbol.for('@vercel/request-context')
const next = Symbol.for('@next/request-context')
const platform = globalThis as { [vercel]?: unknown; [next]?: unknown }

let receiver: TestReceiver
beforeEach(async () => {
  receiver = await startTestReceiver()
})
afterEach(async () => {
  delete platform[vercel]
  delete platform[next]
  vi.unstubAllEnvs()
  await receiver.close()
})

/** A platform that serves several requests at once, each with a context of its own. */
function startPlatform(symbol: symbol) {
  const requests = new AsyncLocalStorage<{ readonly waitUntil: WaitUntil }>()
  Object.assign(platform, { [symbol]: { get: () => requests.getStore() } })
  return {
    requests,
    request: () => {
      const { promises, waitUntil } = collector()
      const context = { waitUntil }
      return { promises, serve: <Result>(run: () => Result) => requests.run(context, run) }
    },
  }
}

describe.each(rowsOf([vercel, next], (symbol) => symbol === next))('the request context of %s', (symbol) => {
  it.each(matrix)('gets one promise for the records of a turn, by %s, mode %s', async (_, mode, way) => {
    const record = way({ ...receiver.options, mode })
    record(1)
    await turn()
    const { promises, serve } = startPlatform(symbol).request()
    serve(() => {
      record(2)
      record(3)
    })
    expect(promises).toHaveLength(1)
    await promises[0]
    expect(await delivered(receiver)).toEqual([1, 2, 3])
  })

  it.each(matrix)('gets a promise in each of two requests at once, by %s, mode %s', async (_, mode, way) => {
    const record = way({ ...receiver.options, mode })
    const { request } = startPlatform(symbol)
    const [first, second] = [request(), request()]
    record(1)
    first.serve(() => record(2))
    second.serve(() => record(3))
    first.serve(() => record(4))
    expect([first.promises.length, second.promises.length]).toEqual([1, 1])
    await second.promises[0]
    expect(await delivered(receiver)).toEqual([1, 2, 3, 4])
  })
})

describe('the request context of a platform', () => {
  it('gets promises by track of the process, which has no options', async () => {
    vi.stubEnv('SLUICE_URL', receiver.options.url)
    vi.stubEnv('SLUICE_API_KEY', receiver.options.apiKey)
    vi.stubEnv('SLUICE_BUCKET', receiver.options.bucket)
    const { promises, serve } = startPlatform(vercel).request()
    serve(() => track(1))
    expect(promises).toHaveLength(1)
    await promises[0]
    expect(await delivered(receiver)).toEqual([1])
  })

  it('that makes it anew for each question gets one promise in a turn', async () => {
    const { promises, waitUntil } = collector()
    Object.assign(platform, { [next]: { get: () => ({ waitUntil }) } })
    const record = trackerOf(receiver.options)
    record(1)
    record(2)
    expect(promises).toHaveLength(1)
  })

  it('that has one function for all requests gets a promise for each', async () => {
    const { requests } = startPlatform(vercel)
    const seen: unknown[] = []
    function waitUntil(this: unknown): void {
      seen.push(this)
    }
    const [first, second] = [{ waitUntil }, { waitUntil }]
    const record = trackerOf(receiver.options)
    requests.run(first, () => record(1))
    requests.run(second, () => record(2))
    requests.run(second, () => record(3))
    expect(seen).toEqual([first, second])
    expect(seen[1]).toBe(second)
  })

  it.each(modes)('is left alone where there is the option, mode %s', (mode) => {
    const own = collector()
    const { promises, serve } = startPlatform(vercel).request()
    const record = trackerOf({ ...receiver.options, mode, waitUntil: own.waitUntil })
    serve(() => record(1))
    expect([own.promises.length, promises.length]).toEqual([1, 0])
  })

  it('that throws is reported once, and the records are delivered', async () => {
    const errors: SluiceError[] = []
    Object.assign(platform, {
      [vercel]: {
        get() {
          throw new Error('no request')
        },
      },
    })
    const sluice = createSluice({ ...receiver.options, onError: (error) => void errors.push(error) })
    sluice.track(1)
    sluice.track(2)
    await sluice.close()
    expect(errors.map(({ code }) => code)).toEqual(['SLUICE_WAIT_UNTIL'])
    expect(await delivered(receiver)).toEqual([1, 2])
  })

  it.each(matrix)(
    'that cannot be read is reported once, and nothing is thrown, by %s, mode %s',
    async (_, mode, way) => {
      const errors: SluiceError[] = []
      Object.defineProperty(platform, vercel, {
        configurable: true,
        get() {
          throw new Error('no platform')
        },
      })
      const record = way({ ...receiver.options, mode, onError: (error) => void errors.push(error) })
      record(1)
      await turn()
      record(2)
      await vi.waitFor(async () => expect(await delivered(receiver)).toEqual([1, 2]), 10_000)
      expect(errors).toMatchObject([
        { code: 'SLUICE_WAIT_UNTIL', message: 'waitUntil failed, records are kept: no platform' },
      ])
    },
  )

  it('that cannot wait changes nothing', async () => {
    const rejects = () => Promise.reject(new Error('no request'))
    Object.assign(platform, { [vercel]: { get: rejects }, [next]: { get: () => ({}) } })
    const sluice = createSluice(receiver.options)
    sluice.track(1)
    await sluice.close()
    expect(await delivered(receiver)).toEqual([1])
  })
})
