import { expect, it } from 'vitest'
import winston from 'winston'
import { isJsonFormat, writesAllFields } from '../../src/loggers/json-format.js'

const { combine, json, printf, timestamp } = winston.format
const logger = winston.createLogger()

it('recognises winston’s json, with any options, and no other format', () => {
  expect(isJsonFormat(logger, json())).toBe(true)
  expect(isJsonFormat(logger, json({ space: 2 }))).toBe(true)
  expect(isJsonFormat(logger, combine(timestamp(), json()))).toBe(false)
  const likeJson = printf((info) => JSON.stringify(info))
  expect(isJsonFormat(logger, likeJson)).toBe(false)
  expect(isJsonFormat(logger, {})).toBe(false)
  expect(isJsonFormat({}, json())).toBe(false)
})

it('does not take one wrapper for another, though all have the same source', () => {
  const wrap = (format: winston.Logform.Format) => ({
    ...format,
    transform: (info: winston.Logform.TransformableInfo, options: unknown) => format.transform(info, options),
  })
  class InstrumentedLogger {
    readonly format = wrap(json())
    configure(): void {}
  }
  const instrumented = new InstrumentedLogger()
  expect(isJsonFormat(instrumented, wrap(timestamp()))).toBe(false)
})

it.each([
  [undefined, true],
  [{}, true],
  [{ deterministic: false, bigint: true, replacer: undefined }, true],
  [{ space: 2 }, true],
  [{ replacer: () => 'hidden' }, false],
  [{ maximumDepth: 1 }, false],
  ['text', false],
])('says if all fields are in the text of json with the options %o', (options, isWhole) => {
  expect(writesAllFields({ options })).toBe(isWhole)
})
