import pino from 'pino'
import { createSluice, flush, stats, track } from 'sluice'
import { sluicePino } from 'sluice/pino'
import { type CapturedSluice, captureSluice } from 'sluice/testing'
import { SluiceTransport } from 'sluice/winston'
import { afterEach, describe, expect, it } from 'vitest'
import winston from 'winston'
import { FaultServer } from '../support/fault-server.js'
import { startTestReceiver } from '../support/receiver.js'
import { volumeWays } from '../support/volume-ways.js'

let captured: CapturedSluice | undefined
afterEach(() => captured?.restore())

describe('captureSluice', () => {
  it('has tracked and logged records at once, without any configuration', () => {
    const winstonLogger = winston.createLogger({ transports: [new SluiceTransport({ appName: 'shop' })] })
    const pinoLogger = pino(sluicePino({ appName: 'shop' }))
    captured = captureSluice()
    track(1001, { timeStamp: 1_700_000_000_000 })
    winstonLogger.warn('low', { stock: 1 })
    pinoLogger.info({ orderId: 7 }, 'placed')
    expect(captured.values).toContainEqual(expect.objectContaining({ eventId: 1001, timeStamp: 1_700_000_000_000 }))
    expect(captured.logs).toMatchObject([
      { level: 'warn', message: 'low {"stock":1}', appName: 'shop' },
      { level: 'info', message: 'placed {"orderId":7}', appName: 'shop' },
    ])
    captured.clear()
    expect([captured.logs, captured.values]).toEqual([[], []])
  })

  it.each(volumeWays)(
    'has the lines that the service would get, and leaves out the others as configured: %s',
    async (_, open) => {
      captured = captureSluice()
      const log = open({ level: 'info', sample: { info: 0 }, keepForError: '1/60s', context: 'none' })
      for (const message of ['first', 'second']) log('debug', { requestId: 'r' }, message)
      log('info', { stock: 1 }, 'sampled')
      log('warn', { stock: 1 }, 'slow')
      log('error', { requestId: 'r' }, 'failed')
      await flush()
      expect(captured.logs.map(({ message }) => message)).toEqual(['slow', 'second', 'failed'])
    },
  )

  it('has the lines of pino’s target after a flush, of a worker that runs already and of one that starts later', async () => {
    const before = pino({ transport: { target: 'sluice/pino' } })
    await flush()
    captured = captureSluice()
    const after = pino({ transport: { target: 'sluice/pino' } })
    before.info('from the first')
    after.info('from the second')
    await flush()
    expect(captured.logs.map(({ message }) => message).sort()).toEqual(['from the first', 'from the second'])
  })

  it('has the lines of a pino target that was started just before, and nothing leaves the process', async () => {
    const server = await FaultServer.start()
    const options = { url: server.url, apiKey: 'k', bucket: 'b' }
    const logger = pino({ transport: { target: 'sluice/pino', options } })
    captured = captureSluice()
    logger.info('just started')
    await flush()
    expect(captured.logs.map(({ message }) => message)).toEqual(['just started'])
    expect(server.requests).toEqual([])
    await server.close()
  })

  it('needs no destination, and accepts an invalid one', () => {
    captured = captureSluice()
    for (const variable of ['SLUICE_URL', 'SLUICE_MAX_CONNECTIONS']) {
      process.env[variable] = 'not what it should be'
      createSluice().track(1)
      delete process.env[variable]
    }
    expect(captured.values).toHaveLength(2)
  })

  it('keeps every request from leaving, whatever is configured', async () => {
    const server = await FaultServer.start()
    const options = { url: server.url, apiKey: 'k', bucket: 'b' }
    const before = createSluice(options)
    captured = captureSluice()
    const during = createSluice({ ...options, bucket: 'c' })
    before.track(1)
    during.track(2)
    pino({ transport: { target: 'sluice/pino', options } }).info('three')
    await flush()
    expect(captured.values.map(({ eventId }) => eventId)).toEqual([1, 2])
    expect(captured.logs).toHaveLength(1)
    expect(server.requests).toEqual([])
    expect(server.connections).toBe(0)
    captured.restore()
    during.track(3)
    await during.close()
    await before.close()
    expect(server.taken.map((body) => JSON.parse(body).eventId)).toEqual([3])
    await server.close()
  })

  it('captures every call with a key', () => {
    captured = captureSluice()
    const sluice = createSluice()
    for (let time = 0; time < 2; time++) sluice.track(7, { key: 'evt_1', timeStamp: 5 })
    expect(captured.values.map(({ eventId, timeStamp }) => [eventId, timeStamp])).toEqual([
      [7, 5],
      [7, 5],
    ])
  })

  it('counts invalid events, and reports nothing', () => {
    captured = captureSluice()
    const sluice = createSluice()
    sluice.track(Number.NaN)
    sluice.track(5)
    expect(sluice.stats()).toMatchObject({ invalid: 1, accepted: 1, delivered: 1 })
    expect(captured.values).toHaveLength(1)
  })

  it('is too late when records are on their way to the network', async () => {
    const server = await FaultServer.start(() => ({ type: 'silence' }))
    const sluice = createSluice({ url: server.url, apiKey: 'k', bucket: 'b', mode: 'inline' })
    sluice.track(1)
    expect(() => captureSluice()).toThrow(expect.objectContaining({ code: 'SLUICE_CAPTURE_LATE' }))
    await sluice.close({ timeoutMs: 0 })
    await server.close()
  })

  it('hands over to the one that is called later, and delivers again when that is restored', async () => {
    const receiver = await startTestReceiver()
    const sluice = createSluice(receiver.options)
    const first = captureSluice()
    captured = captureSluice()
    sluice.track(1)
    first.restore()
    sluice.track(2)
    expect([first.values.length, captured.values.length]).toEqual([0, 2])
    captured.restore()
    sluice.track(3)
    await sluice.close()
    expect((await receiver.values()).map(({ eventId }) => eventId)).toEqual([3])
    await receiver.close()
    expect(stats()).toMatchObject({ queued: 0, inFlight: 0 })
  })
})
