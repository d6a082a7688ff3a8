import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import winston from 'winston'
import TransportStream from 'winston-transport'
import { isJsonFormat, writesAllFields } from '../../src/loggers/json-format.js'
import { type WinstonInfo, type WinstonMapping, winstonMapper } from '../../src/records/winston-info.js'
import { mapParsedLine, plainWinstonReader, WrittenLines } from '../../src/records/winston-line.js'
import { runs } from '../support/full.js'
import { runsOf } from '../support/plain-lines.js'
import { winstonFields, winstonLines, winstonMappings } from '../support/winston-lines.js'

const arrivedAt = 1_700_000_000_000
const mapping = { context: 'json', maxMessageBytes: 32_768, timestampUnit: 'ms' } as const
const map = winstonMapper(mapping)

/** The lines that a transport with this format recognises; undefined for each other one. */
function recognised(format: winston.Logform.Format, log: (logger: winston.Logger) => void): (string | undefined)[] {
  const written = new WrittenLines()
  const lines: (string | undefined)[] = []
  const transport = new TransportStream({
    log(info: WinstonInfo, next: () => void) {
      const line = written.of(info, isJsonFormat(logger, format) && writesAllFields(format))
      lines.push(line)
      // A recognised line must give the same record as its info.
      if (line !== undefined) {
        const mapped = map(info, { arrivedAt })
        const { level } = mapped.fields
        expect(mapParsedLine(map, line, { level, severity: mapped.severity, arrivedAt })).toEqual(mapped)
      }
      next()
    },
  })
  const logger = winston.createLogger({ level: 'silly', format, transports: [transport] })
  log(logger)
  return lines
}

const { combine, json, timestamp, colorize, printf, errors, splat } = winston.format

describe('a line of winston’s json format', () => {
  it.each<[string, winston.Logform.Format]>([
    ['json', json()],
    ['timestamp and json', combine(timestamp(), json())],
    ['colorize and json', combine(colorize(), json())],
    ['splat and json', combine(splat(), json())],
    ['json in the order of the fields', json({ deterministic: false })],
    ['timestamp and json in the order of the fields', combine(timestamp(), json({ deterministic: false }))],
    ['JSON.stringify', printf((info) => JSON.stringify(info))],
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

  it('is not shipped as it is if it has objects, one line among thousands', () => {
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
    [
      'prints less now and then',
      printf(({ number, ...rest }) => JSON.stringify({ ...rest, number: Number(number) % 2 || undefined })),
    ],
    ['hides a field', json({ replacer: (key, value: unknown) => (key === 'number' ? undefined : value) })],
    ['shows few fields', json({ maximumBreadth: 1 })],
    ['spreads over several lines', json({ space: 2 })],
  ])('is told apart from a format that %s', (_, format) => {
    const lines = recognised(format, (logger) => {
      for (let number = 0; number < 5; number++) logger.info('line', { number: number * 2 + 2 })
    })
    expect(lines).toEqual([undefined, undefined, undefined, undefined, undefined])
  })
})

const about = { level: 'info', severity: 2, arrivedAt } as const

/** The result of the parser for a line, and the result without it. */
function both(line: string, mapping: WinstonMapping) {
  return {
    plain: plainWinstonReader(mapping)(line, about),
    parsed: () => mapParsedLine(winstonMapper(mapping), line, about),
  }
}

describe('a plain line of winston', () => {
  it('gives the result of the parser or is left to the parser, whatever it contains', {
    timeout: 300_000,
  }, () => {
    fc.assert(
      fc.property(winstonLines, winstonMappings, ([start, all, end], mapping) => {
        const line = start + all.map(([key, value]) => `"${key}":${value}`).join(',') + end
        const { plain, parsed } = both(line, mapping)
        if (plain !== undefined) expect(plain).toEqual(parsed())
      }),
      { numRuns: runs({ some: 800, all: 50_000 }) },
    )
  })

  it('gives the same result whatever line came before it', () => {
    fc.assert(
      fc.property(runsOf(winstonFields), winstonMappings, (run, mapping) => {
        const plain = plainWinstonReader(mapping)
        for (const all of run) {
          const line = `{${all.map(([key, value]) => `"${key}":${value}`).join(',')}}`
          const mapped = plain(line, about)
          if (mapped !== undefined) expect(mapped).toEqual(both(line, mapping).parsed())
        }
      }),
      { numRuns: runs({ some: 400, all: 50_000 }) },
    )
  })

  it.each([
    '{"level":"info","message":"hello"}',
    '{"customer":"c-17","level":"info","message":"order placed","orderId":7,"paid":true,"total":99.5}',
    '{"level":"info","message":"héllo → ok","timestamp":"2023-11-14T22:13:20.123Z"}',
    '{"timestamp":"2023-11-14T22:13:20.123Z","level":"info","a":1,"message":"in any order","b":null}',
    '{"level":"info","a":1}',
    '{"level":"info","error":"a text"}',
  ])('need not be parsed: %s', (line) => {
    const { plain, parsed } = both(line, mapping)
    expect(plain).toBeDefined()
    expect(plain).toEqual(parsed())
  })
})
