import { AsyncLocalStorage } from 'node:async_hooks'
import pino from 'pino'
import { ConfigError, createSluice, type SluiceError, type SluiceOptions, track } from 'sluice'
import { pinoTarget, sluicePino } from 'sluice/pino'
import { SluiceTransport } from 'sluice/winston'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import winston from 'winston'
import { closedPort } from '../support/content-client.js'
import { startTestReceiver, type TestReceiver } from '../support/receiver.js'

type WaitUntil = NonNullable<SluiceOptions['waitUntil']>
type Options = Omit<SluiceOptions, 'level'>

const vercel = Symbol.for('@vercel/request-context')
const next = Symbol.for('@next/request-context')
const platform = globalThis as { [vercel]?: unknown; [next]?: unknown }
const modes = ['worker', 'inline'] as const

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

/** Every way of a record out of the application's thread. Each returns a function that makes the record with this number. */
const ways: readonly (readonly [string, (options: Options) => (number: number) => void])[] = [
  [
    'sluicePino()',
    (options) => {
      const stream = sluicePino(options)
      onTestFinished(() => stream.end())
      const logger = pino(stream)
      return (number) => logger.info(`${number}`)
    },
  ],
  [
    'SluiceTransport',
    (options) => {
      const transport = new SluiceTransport(options)
      onTestFinished(() => transport.close())
      const logger = winston.createLogger({ transports: [transport] })
      return (number) => void logger.info(`${number}`)
    },
  ],
  [
    'winston with a format of its own',
    (options) => {
      const transport = new SluiceTransport(options)
      onTestFinished(() => transport.close())
      const logger = winston.createLogger({ transports: [transport], format: winston.format.simple() })
      return (number) => void logger.info(`${number}`)
    },
  ],
  ['createSluice', (options) => trackerOf(options)],
]
const matrix = ways.flatMap(([name, way]) => modes.map((mode) => [name, mode, way] as const))

function trackerOf(options: Options): (number: number) => void {
  const sluice = createSluice(options)
  onTestFinished(() => void sluice.close({ timeoutMs: 0 }))
  return (number) => sluice.track(number)
}

/** The numbers of all records that the receiver has. */
async function delivered(): Promise<number[]> {
  const logs = await receiver.logs()
  const values = await receiver.values()
  return [...logs.map(({ message }) => Number(message)), ...values.map(({ eventId }) => eventId)].sort((a, b) => a - b)
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Promises that a platform was given. */
function collector() {
  const promises: Promise<void>[] = []
  const waitUntil: WaitUntil = (promise) => void promises.push(promise)
  return { promises, waitUntil }
}

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

describe('the option waitUntil', () => {
  it.each(matrix)('of %s gets one promise for the records of a turn, mode %s', async (_, mode, way) => {
    const { promises, waitUntil } = collector()
    const record = way({ ...receiver.options, mode, waitUntil })
    for (const number of [1, 2, 3]) record(number)
    await Promise.resolve()
    record(4)
    expect(promises).toHaveLength(1)
    expect(await promises[0]).toBeUndefined()
    expect(await delivered()).toEqual([1, 2, 3, 4])
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
    expect(await delivered()).toEqual([1, 2])
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
    expect(await delivered()).toEqual([1, 2])
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
    expect(await delivered()).toEqual([1, 2])
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

describe.each([vercel, next])('the request context of %s', (symbol) => {
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
    expect(await delivered()).toEqual([1, 2, 3])
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
    expect(await delivered()).toEqual([1, 2, 3, 4])
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
    expect(await delivered()).toEqual([1])
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
    expect(await delivered()).toEqual([1, 2])
  })

  it('that cannot wait changes nothing', async () => {
    Object.assign(platform, { [vercel]: {}, [next]: { get: () => ({}) } })
    const sluice = createSluice(receiver.options)
    sluice.track(1)
    await sluice.close()
    expect(await delivered()).toEqual([1])
  })
})
