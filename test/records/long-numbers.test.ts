import fc from 'fast-check'
import pino from 'pino'
import { sluicePino, sluicePinoOptions } from 'sluice/pino'
import { captureSluice } from 'sluice/testing'
import { describe, expect, it } from 'vitest'
import { lineMapper } from '../../src/records/line.js'
import { parseJson } from '../../src/records/long-numbers.js'

const map = lineMapper({ context: 'json', maxMessageBytes: 32_768, timestampUnit: 'ms' })

describe('a number that JavaScript cannot hold', () => {
  it.each([1234567890123456789n, -9007199254740993n, 10n ** 400n, 2n ** 64n])(
    'keeps its digits in a line of pino: %s',
    (big) => {
      for (const options of [{}, sluicePinoOptions()]) {
        using captured = captureSluice()
        const logger = pino(options, sluicePino())
        logger.info({ big }, 'direct')
        logger.info({ in: [{ big }] }, 'deep')
        logger.child({ big }).info('bound')
        expect(captured.logs.map(({ message }) => message)).toEqual([
          `direct {"big":"${big}"}`,
          `deep {"in":[{"big":"${big}"}]}`,
          `bound {"big":"${big}"}`,
        ])
      }
    },
  )

  it.each([
    ['1234567890123456789', '"1234567890123456789"'],
    ['-1234567890123456789', '"-1234567890123456789"'],
    ['12345678901234567000', '12345678901234567000'],
    ['9007199254740991', '9007199254740991'],
    ['9007199254740993', '"9007199254740993"'],
    ['1e21', '1e+21'],
    ['0.1234567890123456789', '0.12345678901234568'],
    ['1234567890123456789.5', '1234567890123456800'],
    ['[1234567890123456789,1234567890123456789]', '["1234567890123456789","1234567890123456789"]'],
    [
      String.raw`"no 1234567890123456789 \" 1234567890123456789"`,
      String.raw`"no 1234567890123456789 \" 1234567890123456789"`,
    ],
    [String.raw`{"\\":1234567890123456789}`, String.raw`{"\\":"1234567890123456789"}`],
  ])('in JSON: %s becomes %s', (written, expected) => {
    expect(JSON.stringify(parseJson(written))).toBe(expected)
    const line = `{"level":30,"time":1700000000000,"value":${written},"msg":"m"}`
    expect(map(line, { arrivedAt: 0 }).fields.message).toBe(`m {"value":${expected}}`)
  })

  it('makes no JSON of a text that is none', () => {
    expect(() => parseJson('01234567890123456789')).toThrow(SyntaxError)
  })

  it('changes nothing else, whatever the text is', () => {
    fc.assert(
      fc.property(fc.json({ noUnicodeString: false }), fc.nat(), (text, at) => {
        expect(parseJson(text)).toEqual(JSON.parse(text))
        // With a long number somewhere, JSON or not.
        const place = at % (text.length + 1)
        const odd = `${text.slice(0, place)}1234567890123456789${text.slice(place)}`
        expect(withNumbers(parsed(() => parseJson(odd)))).toBe(withNumbers(parsed(() => JSON.parse(odd))))
      }),
    )
  })

  it('is still a time at the head of a line', () => {
    const line = '{"level":30,"time":1700000000123456789,"pid":1,"msg":"m"}'
    expect(map(line, { arrivedAt: 0 }).fields).toMatchObject({
      timeStamp: 1_700_000_000_123,
      message: 'm {"pid":1}',
    })
  })
})

function parsed(parse: () => unknown): unknown {
  try {
    return parse()
  } catch {
    return undefined
  }
}

/** Its JSON, with a number for each text of digits. */
function withNumbers(value: unknown): string | undefined {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'string' && /^-?\d{16,}$/.test(each) ? Number(each) : each,
  )
}
