import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { captureSluice } from 'sluice/testing'
import { SluiceTransport } from 'sluice/winston'
import { afterAll, describe, expect, it } from 'vitest'
import winston from 'winston'

const installed = join(import.meta.dirname, '../../node_modules')
const folder = mkdtempSync(join(tmpdir(), 'sluice-winston-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** A winston with a logform of its own, as some package managers and pinned versions install them. */
function otherWinston(): typeof winston {
  const modules = join(folder, 'node_modules')
  mkdirSync(modules)
  for (const name of readdirSync(installed)) {
    if (name === 'winston' || name === 'logform')
      cpSync(join(installed, name), join(modules, name), { recursive: true })
    else symlinkSync(join(installed, name), join(modules, name))
  }
  return createRequire(join(folder, 'application.js'))('winston')
}

/** The messages of the records that a logger makes. */
function messagesOf(log: (setting: winston.LoggerOptions) => void): string[] {
  using captured = captureSluice()
  log({ transports: [new SluiceTransport()] })
  return captured.logs.map(({ message }) => message)
}

describe('arguments that follow the message', () => {
  const other = otherWinston()

  it('are tested with two copies of logform', () => {
    expect(other.format.json().transform).not.toBe(winston.format.json().transform)
  })

  it.each([
    ['winston', winston],
    ['a second copy of winston', other],
  ])('are in the record of %s', (_, { createLogger, format }) => {
    for (const settings of [{}, { format: format.json() }]) {
      const messages = messagesOf((setting) => {
        const logger = createLogger({ ...setting, ...settings })
        logger.info('order %s', 'o-17', 'placed', 3)
        logger.child({ requestId: 'r-1' }).info('order', 'paid')
      })
      expect(messages).toEqual(['order o-17 placed 3', 'order paid {"requestId":"r-1"}'])
    }
  })

  it('are in the record where the format is the json of another copy of logform', () => {
    const messages = messagesOf((setting) => {
      winston.createLogger({ ...setting, format: other.format.json() }).info('order %s', 'o-17', 'placed')
      other.createLogger({ ...setting, format: winston.format.json() }).info('order', 'paid')
    })
    expect(messages).toEqual(['order o-17 placed', 'order paid'])
  })

  it('are left out as soon as a logger with a format of its own uses the transport, too', () => {
    const messages = messagesOf((setting) => {
      const logger = winston.createLogger(setting)
      logger.info('by default', 'shown')
      const second = winston.createLogger({ ...setting, format: winston.format.simple() })
      second.info('by its own format', 'left out')
      second.clear()
      logger.info('by default again', 'shown')
    })
    expect(messages).toEqual(['by default shown', 'by its own format', 'by default again shown'])
  })

  it('are left out where the application has a format of its own, which may have removed them', () => {
    const { combine, json } = winston.format
    const messages = messagesOf((setting) => {
      const logger = winston.createLogger(setting)
      logger.info('by default', 'shown')
      logger.configure({ ...setting, format: combine(json()) })
      logger.info('by its own format', 'left out')
    })
    expect(messages).toEqual(['by default shown', 'by its own format'])
  })

  it('are in the record of a subclass that cannot be made without options', () => {
    class OwnLogger extends winston.Logger {
      override configure(options: winston.LoggerOptions): void {
        if (options === undefined) throw new Error('OwnLogger: expected options')
        super.configure(options)
      }
    }
    const messages = messagesOf((setting) => new OwnLogger(setting).log('info', 'order', 'placed'))
    expect(messages).toEqual(['order placed'])
  })

  it('do not matter to what another stream pipes into the transport', () => {
    using captured = captureSluice()
    const stream = Object.assign(new PassThrough({ objectMode: true }), { format: {}, configure() {} })
    const transport = new SluiceTransport()
    stream.pipe(transport)
    transport.write({ level: 'info', message: 'order placed' })
    expect(captured.logs).toMatchObject([{ message: 'order placed' }])
  })
})

describe('a field that is not in the text of a line is not in its record', () => {
  /** Many complete lines, and then one without its secret. */
  function logMany(log: (message: string, fields?: object) => void): void {
    for (let number = 0; number < 30; number++) log('line', { number })
    log('last', { number: 30, secret: 's' })
  }
  const { json, printf } = winston.format
  const hidden = { replacer: (key: string, value: unknown) => (key === 'secret' ? undefined : value) }

  it.each<[string, winston.Logform.Format, string]>([
    ['json with a bound', json({ maximumBreadth: 3 }), 'last {"number":30,"...":"1 item not stringified"}'],
    ['json with a replacer', json(hidden), 'last {"number":30}'],
    ['json with a replacer, over several lines', json({ ...hidden, space: 2 }), 'last {"number":30}'],
    ['a printf format', printf(({ secret: _, ...info }) => JSON.stringify(info)), 'last {"number":30}'],
  ])('by %s', (_, format, expected) => {
    const messages = messagesOf((setting) => logMany(winston.createLogger({ ...setting, format }).info))
    expect(messages.at(-1)).toBe(expected)
    using captured = captureSluice()
    logMany(winston.createLogger({ transports: [new SluiceTransport({ format })] }).info)
    expect(captured.logs.at(-1)?.message).toBe(expected)
  })

  it('by the format of another logger with the same transport', () => {
    const messages = messagesOf((setting) => {
      const format = printf(({ secret: _, ...info }) => JSON.stringify(info))
      const first = winston.createLogger(setting)
      for (let number = 0; number < 30; number++) first.info('line', { number })
      logMany(winston.createLogger({ ...setting, format }).info)
    })
    expect(messages.at(-1)).toBe('last {"number":30}')
  })
})
