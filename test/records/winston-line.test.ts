import { describe, expect, it } from 'vitest'
import winston from 'winston'
import TransportStream from 'winston-transport'
import { type WinstonInfo, winstonMapper } from '../../src/records/from-winston.js'
import { mapParsedLine, WrittenLines } from '../../src/records/winston-line.js'

const arrivedAt = 1_700_000_000_000
const map = winstonMapper({ context: 'json', maxMessageBytes: 32_768, timestampUnit: 'ms' })

/** What a transport of this format recognises of what is logged, line by line. */
function recognised(format: winston.Logform.Format, log: (logger: winston.Logger) => void): (string | undefined)[] {
  const written = new WrittenLines()
  const lines: (string | undefined)[] = []
  const transport = new TransportStream({
    log(info: WinstonInfo, next: () => void) {
      const line = written.of(info, true)
      lines.push(line)
      // What is handed over as it is must give the record that mapping would have given.
      if (line !== undefined) {
        const mapped = map(info, { arrivedAt })
        const { level } = mapped.fields
        expect(mapParsedLine(map, line, { level, severity: mapped.severity, arrivedAt })).toEqual(mapped)
      }
      next()
    },
  })
  log(winston.createLogger({ level: 'silly', format, transports: [transport] }))
  return lines
}

const { combine, json, timestamp, colorize, printf, errors, splat } = winston.format

describe('a line that winston’s json format has written', () => {
  it.each<[string, winston.Logform.Format]>([
    ['json', json()],
    ['timestamp and json', combine(timestamp(), json())],
    ['colorize and json', combine(colorize(), json())],
    ['splat and json', combine(splat(), json())],
  ])('%s: is handed over as it is, and gives the same record', (_, format) => {
    const lines = recognised(format, (logger) => {
      for (let number = 0; number < 50; number++)
        logger.info(`line "${number}"\n`, { no: null, number, text: 'ü', yes: true })
    })
    expect(lines.filter((line) => line === undefined)).toEqual([])
  })

  it.each<[string, (logger: winston.Logger) => void]>([
    ['an error', (logger) => logger.error('failed', new Error('boom'))],
    ['an error as a field', (logger) => logger.error('failed', { err: new Error('boom') })],
    ['an object', (logger) => logger.info('nested', { user: { id: 1 } })],
    ['a date', (logger) => logger.info('when', { at: new Date(0) })],
    ['a BigInt', (logger) => logger.info('big', { big: 1n })],
    ['a number that JSON does not know', (logger) => logger.info('odd', { odd: Number.NaN })],
    ['a symbol', (logger) => logger.info('odd', { odd: Symbol('s') })],
  ])('is not when the line has %s in it', (_, log) => {
    expect(recognised(combine(errors({ stack: true }), json()), log)).toEqual([undefined])
  })

  it('is one line among thousands when something in it has an inside', () => {
    const lines = recognised(json(), (logger) => {
      for (let number = 0; number < 100; number++) logger.info('flat', { number })
      logger.info('nested', { user: { id: 1 } })
      logger.info('listed', { ids: [] })
      logger.error('failed', { err: new Error('boom') })
      logger.info('extra', { number: 1 }, new Error('boom'))
      logger.info('brackets in text: {} []', { number: 1 })
      logger.info('a number that JSON does not know', { odd: Number.NaN })
      logger.info('flat again', { at: new Date(0), big: 1n })
    })
    expect(lines.slice(0, 100)).not.toContain(undefined)
    expect(lines.slice(100).map((line) => line !== undefined)).toEqual([false, false, false, false, true, false, true])
  })

  it.each<[string, winston.Logform.Format]>([
    ['prints less than was logged', printf(({ message }) => `{"message":${JSON.stringify(message)}}`)],
    ['prints other values', printf(({ level }) => `{"level":"${level}","message":"hidden","number":0}`)],
    ['prints what is no JSON', printf(({ message }) => `{${message}}`)],
    ['spreads over several lines', json({ space: 2 })],
  ])('is told apart from a format that %s', (_, format) => {
    const lines = recognised(format, (logger) => {
      for (let number = 0; number < 5; number++) logger.info('line', { number: number + 1 })
    })
    expect(lines).toEqual([undefined, undefined, undefined, undefined, undefined])
  })
})
