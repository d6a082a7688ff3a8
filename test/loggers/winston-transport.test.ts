import { PassThrough } from 'node:stream'
import { captureSluice } from 'sluice/testing'
import { SluiceTransport } from 'sluice/winston'
import { describe, expect, it } from 'vitest'
import winston from 'winston'

/** The messages of the records that a logger makes. */
function messagesOf(log: (setting: winston.LoggerOptions) => void): string[] {
  using captured = captureSluice()
  log({ transports: [new SluiceTransport()] })
  return captured.logs.map(({ message }) => message)
}

describe('a record', () => {
  it('has of the arguments behind the message what winston itself has', () => {
    const { combine, json, splat } = winston.format
    const messages = messagesOf((setting) => {
      for (const format of [json(), combine(splat(), json())]) {
        winston.createLogger({ ...setting, format }).info('order %s', 'o-17', { paid: true })
      }
    })
    expect(messages).toEqual(['order %s', 'order o-17 {"paid":true}'])
  })

  it('is made of what another stream pipes into the transport', () => {
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
