import { setImmediate as turn } from 'node:timers/promises'
import { SluiceTransport } from 'sluice/winston'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import winston from 'winston'
import { FaultServer } from '../../support/fault-server.js'
import { startTestReceiver, type TestReceiver } from '../../support/receiver.js'

let receiver: TestReceiver
beforeEach(async () => {
  receiver = await startTestReceiver()
})
afterEach(() => receiver.close())

const ended = (logger: winston.Logger) =>
  new Promise<void>((resolve, reject) => {
    logger.once('finish', resolve).once('error', reject)
    logger.end()
  })

describe('an application that logs with winston', () => {
  it('has every line at the receiver when its logger finishes', async () => {
    const logger = winston.createLogger({
      level: 'debug',
      format: winston.format.json(),
      transports: [new SluiceTransport(receiver.options)],
    })
    for (let number = 0; number < 100; number++) logger.info(`line ${number}`, { number })
    logger.error('failed', new Error('boom'))
    await ended(logger)
    const logs = await receiver.logs()
    expect(logs).toHaveLength(101)
    expect(logs.map(({ message }) => message)).toContain('line 99 {"number":99}')
    expect(logs.find(({ level }) => level === 'error')!.message).toMatch(/^failed boom\nError: boom\n {4}at /)
  })

  it('takes the level of the transport and winston-transport’s own options', async () => {
    const transport = new SluiceTransport({ ...receiver.options, level: 'warn', format: winston.format.uncolorize() })
    const logger = winston.createLogger({ level: 'silly', transports: [transport] })
    logger.info('not this')
    logger.warn('but this')
    await ended(logger)
    expect((await receiver.logs()).map(({ message }) => message)).toEqual(['but this'])
  })

  it('obeys a level that is changed while the application runs', async () => {
    const transport = new SluiceTransport({ ...receiver.options, level: 'info' })
    const logger = winston.createLogger({ level: 'silly', transports: [transport] })
    logger.debug('not yet')
    transport.level = 'debug'
    logger.debug('now')
    transport.level = 'error'
    logger.info('no more')
    await ended(logger)
    expect((await receiver.logs()).map(({ message }) => message)).toEqual(['now'])
  })

  it('calls back synchronously, works without a callback, returns true and emits logged', async () => {
    const transport = new SluiceTransport(receiver.options)
    const info = Object.freeze({ level: 'info', message: 'm' })
    let calledBack = false
    let emitted: unknown
    transport.once('logged', (logged) => {
      emitted = logged
    })
    const returned = transport.log(info, () => {
      calledBack = true
    })
    expect({ returned, calledBack, emitted }).toEqual({ returned: true, calledBack: true, emitted: info })
    expect(transport.log(info)).toBe(true)
    const logger = winston.createLogger({ transports: [transport] })
    await ended(logger)
    expect(await receiver.logs()).toHaveLength(2)
  })

  it('is a stream like others for those who write to it themselves', async () => {
    const transport = new SluiceTransport({
      ...receiver.options,
      format: winston.format((info) => (info.message === 'not this' ? false : info))(),
    })
    const logger = winston.createLogger({ transports: [transport] })
    const write = (message: string, ...rest: [(() => void)?]) =>
      transport.write({ level: 'info', [Symbol.for('level')]: 'info', message }, ...(rest as []))
    await new Promise<void>((resolve) => void write('with a callback', resolve))
    transport.cork()
    write('corked')
    transport.uncork()
    write('not this')
    transport.silent = true
    write('nor this')
    transport.silent = false
    write('last')
    await ended(logger)
    const failed = new Promise<Error & { code?: string }>((resolve) => void transport.once('error', resolve))
    write('after the end')
    expect((await failed).code).toBe('ERR_STREAM_WRITE_AFTER_END')
    expect((await receiver.logs()).map(({ message }) => message)).toEqual(['with a callback', 'corked', 'last'])
  })

  it('counts a line that the service refuses as rejected, tells why, and delivers the others', async () => {
    const told: string[] = []
    const transport = new SluiceTransport({
      ...receiver.options,
      maxMessageBytes: 4_000_000,
      onError: (error) => told.push(error.message),
    })
    const logger = winston.createLogger({ transports: [transport] })
    logger.info('before')
    logger.info('x'.repeat(2_000_000))
    logger.info('after')
    await ended(logger)
    expect((await receiver.logs()).map(({ message }) => message).sort()).toEqual(['after', 'before'])
    expect(told).toEqual([expect.stringMatching(/^1 log record rejected: the service refused the record \(413\)/)])
  })

  it('throws a ConfigError where the transport is made', () => {
    expect(() => new SluiceTransport({ ...receiver.options, maxConnections: 0 })).toThrow(
      expect.objectContaining({ code: 'SLUICE_CONFIG_INVALID', option: 'maxConnections', value: 0 }),
    )
    expect(() => new SluiceTransport({ ...receiver.options, buckt: 'demo' } as object)).toThrow('did you mean bucket?')
  })
})

describe('a transport that outlives its logger', () => {
  const transport = () => new SluiceTransport({ ...receiver.options, shutdownTimeoutMs: 8000 })
  const messages = async () => (await receiver.logs()).map(({ message }) => message).sort()
  const log = (logger: winston.Logger, name: string) => {
    for (const number of [1, 2, 3]) logger.info(`${name} ${number}`)
  }
  const lines = (...names: string[]) => names.flatMap((name) => [1, 2, 3].map((number) => `${name} ${number}`)).sort()

  it.each(['first', 'second'])('takes the lines of the other logger while and after the %s one ends', async (ends) => {
    const shared = transport()
    const loggers = ['first', 'second'].map(() => winston.createLogger({ transports: [shared] }))
    const [ending, other] = ends === 'first' ? loggers : loggers.toReversed()
    log(ending!, 'the one that ends')
    const end = ended(ending!)
    log(other!, 'at once')
    await turn()
    log(other!, 'while it ends')
    await end
    expect(await messages()).toEqual(expect.arrayContaining(lines('the one that ends', 'at once')))
    log(other!, 'after its end')
    await ended(other!)
    expect(await messages()).toEqual(lines('the one that ends', 'at once', 'while it ends', 'after its end'))
  })

  it.each<[string, (logger: winston.Logger, shared: SluiceTransport) => void]>([
    ['taken out and added again', (logger, shared) => logger.remove(shared).add(shared)],
    ['in a logger that is configured anew', (logger, shared) => logger.configure({ transports: [shared] })],
    ['in a logger that is cleared first', (logger, shared) => logger.clear().add(shared)],
  ])('takes all lines where it is %s, at once or later', async (_, change) => {
    const shared = transport()
    const logger = winston.createLogger({ transports: [shared] })
    log(logger, 'before')
    change(logger, shared)
    log(logger, 'after')
    logger.remove(shared)
    await turn()
    await turn()
    logger.add(shared)
    log(logger, 'at last')
    logger.debug('below the level of the logger')
    await ended(logger)
    expect(await messages()).toEqual(lines('before', 'after', 'at last'))
  })

  it('finishes when the lines from before it was taken out are settled, too', async () => {
    const answer = { type: 'answer', status: 201, body: '{}' } as const
    const slowly = (body: string) => (body.includes('slow') ? { ...answer, afterMs: 500 } : answer)
    const server = await FaultServer.start(({ body }) => slowly(body))
    const shared = new SluiceTransport({ ...receiver.options, shutdownTimeoutMs: 8000, url: server.url })
    const logger = winston.createLogger({ transports: [shared] })
    logger.info('a slow line').remove(shared)
    await turn()
    await turn()
    logger.add(shared)
    logger.info('a line of the next engine')
    await ended(logger)
    expect(server.answered).toBe(2)
    await server.close()
  })

  it('takes the lines of one logger when another has closed', async () => {
    const shared = transport()
    const [closing, other] = [1, 2].map(() => winston.createLogger({ transports: [shared] }))
    log(closing!, 'before')
    closing!.close()
    await turn()
    await turn()
    log(other!, 'after')
    other!.debug('below the level of the logger')
    await ended(other!)
    expect(await messages()).toEqual(lines('before', 'after'))
  })
})
