import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import pino from 'pino'
import { ConfigError, stats } from 'sluice'
import { type SluicePinoStream, sluicePino } from 'sluice/pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startTestReceiver, type TestReceiver } from '../../support/receiver.js'

let receiver: TestReceiver
let stream: SluicePinoStream | undefined
beforeEach(async () => {
  receiver = await startTestReceiver()
})
afterEach(async () => {
  await end()
  await receiver.close()
})

async function end(): Promise<void> {
  const closed = stream === undefined ? undefined : new Promise((resolve) => stream?.once('close', resolve))
  stream?.end()
  await closed
  stream = undefined
}

/** End the stream, and say what came of what was logged, in the order of the alphabet. */
async function shipped(): Promise<string[]> {
  await end()
  return (await receiver.logs()).map(({ level, message }) => `${level} ${message}`).sort()
}

describe.each(['worker', 'inline'] as const)('pino with sluicePino(), mode %s', (mode) => {
  const open = (options = {}) => {
    stream = sluicePino({ ...receiver.options, mode, ...options })
    return stream
  }

  it('ships lines with their level, fields and bindings', async () => {
    const logger = pino(open())
    logger.info({ orderId: 7 }, 'order placed')
    logger.child({ requestId: 'r1' }).error('refused')
    expect(await shipped()).toEqual(['error refused {"requestId":"r1"}', 'info order placed {"orderId":7}'])
  })

  it('reads lines as their logger is configured, children with levels of their own among them', async () => {
    const shared = open()
    const plain = pino(shared)
    const odd = pino({ messageKey: 'message', errorKey: 'problem', customLevels: { audit: 35 } }, shared)
    odd.audit('seen')
    odd.child({}, { customLevels: { security: 45 } }).security('door open')
    odd.error(new Error('broken'))
    plain.warn('plain')
    const [audit, error, ...others] = await shipped()
    expect([audit, ...others]).toEqual(['audit seen', 'security door open', 'warn plain'])
    expect(error).toMatch(/^error broken\nError: broken\n {4}at /)
  })

  it('keeps the name of the logger, and fields that are called like those of its base', async () => {
    const shared = open()
    pino({ name: 'shop' }, shared).info('named')
    pino(shared).info({ name: 'Ann' }, 'field')
    pino(shared).child({ name: 'db' }).info('binding')
    pino({ base: null }, shared).info({ pid: 4242 }, 'no base')
    expect(await shipped()).toEqual([
      'info binding {"name":"db"}',
      'info field {"name":"Ann"}',
      'info named {"name":"shop"}',
      'info no base {"pid":4242}',
    ])
  })

  it('ships only what SLUICE_LEVEL asks for, while another stream gets everything', async () => {
    const all: string[] = []
    const streams = [{ stream: open({ level: 'warn' }) }, { stream: { write: (line: string) => void all.push(line) } }]
    const logger = pino({}, pino.multistream(streams))
    logger.info('usual')
    logger.warn('unusual')
    expect(all).toHaveLength(2)
    expect(await shipped()).toEqual(['warn unusual'])
  })

  it('calls back from logger.flush() when everything is delivered', async () => {
    const logger = pino(open())
    for (let number = 0; number < 100; number++) logger.info(`line ${number}`)
    await new Promise<void>((resolve, reject) => logger.flush((error) => (error ? reject(error) : resolve())))
    expect(await receiver.logs()).toHaveLength(100)
  })

  it('ships as a message what is not a line of JSON', async () => {
    const writer = open()
    writer.write('plain text\n')
    writer.write('two\nlines\n')
    writer.write('42\n')
    expect(await shipped()).toEqual(['info 42', 'info plain text', 'info two\nlines'])
  })

  it('takes bytes and texts of any encoding, and calls back, as a Writable does', async () => {
    const writer = open()
    const line = (msg: string) => `${JSON.stringify({ level: 40, msg })}\n`
    writer.write(Buffer.from(line('buffer ü')))
    writer.write(new TextEncoder().encode(line('bytes ü')))
    writer.write(Buffer.from(line('base64')).toString('base64'), 'base64')
    await new Promise<void>((resolve) => writer.write(line('called back'), () => resolve()))
    await new Promise<void>((resolve) => writer.write(Buffer.from(line('called back, too')), 'utf8', () => resolve()))
    const expected = ['base64', 'buffer ü', 'bytes ü', 'called back', 'called back, too']
    expect(await shipped()).toEqual(expected.map((message) => `warn ${message}`))
  })

  it.each<[string, number, (ending: SluicePinoStream, callback: () => void) => SluicePinoStream]>([
    ['end(callback)', 1, (ending, callback) => ending.end(callback)],
    ['end(line, callback)', 2, (ending, callback) => ending.end('last\n', callback)],
    ['end(bytes, callback)', 2, (ending, callback) => ending.end(Buffer.from('last\n'), callback)],
    ['end(line, encoding, callback)', 2, (ending, callback) => ending.end('last\n', 'utf8', callback)],
  ])('takes the last line and calls back when all is delivered, by %s', async (_, count, ending) => {
    const writer = open()
    writer.write('first\n')
    await new Promise<void>((resolve) => expect(ending(writer, resolve)).toBe(writer))
    expect(await receiver.logs()).toHaveLength(count)
    // Whoever ends it once more waits for nothing.
    await new Promise<void>((resolve) => writer.end(resolve))
    stream = undefined
  })

  it('is the end of a pipeline', async () => {
    await pipeline(Readable.from(['one\n', Buffer.from('two\n')]), open())
    expect((await receiver.logs()).map(({ message }) => message).sort()).toEqual(['one', 'two'])
    stream = undefined
  })

  it('counts what is logged after its end, and does nothing else', async () => {
    const logger = pino(open())
    await end()
    const before = stats().dropped.closed
    logger.info('too late')
    expect(stats().dropped.closed - before).toBe(1)
    expect(await receiver.logs()).toEqual([])
  })
})

describe('sluicePino() with bad options', () => {
  it('throws at once, and names the option', () => {
    expect(() => sluicePino({ ...receiver.options, maxConnections: -1 })).toThrow(/option maxConnections/)
    expect(() => sluicePino({ ...receiver.options, maxConnection: 1 } as never)).toThrow(ConfigError)
  })

  it('throws when the logger is made, for a level that neither it nor anybody else has', () => {
    stream = sluicePino({ ...receiver.options, level: 'lowd' })
    expect(() => pino(stream as SluicePinoStream)).toThrow(/option level \(SLUICE_LEVEL\)/)
  })
})

describe('sluicePino() that is disabled', () => {
  it('takes lines and a flush, ends, and sends nothing', async () => {
    stream = sluicePino({ ...receiver.options, disabled: true })
    const logger = pino(stream)
    logger.info('not delivered')
    await new Promise<void>((resolve) => stream?.write('nor this\n', () => resolve()))
    expect(await new Promise((resolve) => logger.flush(resolve))).toBeUndefined()
    await end()
    expect(await receiver.logs()).toEqual([])
  })
})
