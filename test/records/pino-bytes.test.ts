import fc from 'fast-check'
import pino from 'pino'
import { describe, expect, it } from 'vitest'
import { learnedBase } from '../../src/loggers/pino-logger.js'
import { logHead } from '../../src/records/encode.js'
import { PinoBytes } from '../../src/records/pino-bytes.js'
import { type IsBase, mapPinoLine, type PinoMapping, pinoMapper } from '../../src/records/pino-line.js'
import { runs } from '../support/full.js'
import { bases, pinoFields, pinoHead, pinoHeads, pinoLines, pinoMappings } from '../support/pino-lines.js'
import { runsOf, writtenFields } from '../support/plain-lines.js'
import { cutOf, encoder, linesOf, writtenBody } from '../support/record-bytes.js'

const arrivedAt = 1_700_000_000_000
const mapping = { context: 'json', maxMessageBytes: 32_768, timestampUnit: 'ms' } as const

/** Maps lines in both ways. Both ask an `isBase` of their own, as it may learn from the lines. */
class BothWays {
  readonly #slow: (line: string, isBase: IsBase) => ReturnType<typeof mapPinoLine>
  readonly #bytes: PinoBytes
  readonly #bases: readonly [IsBase, IsBase]

  constructor(mapping: PinoMapping, newBase: () => IsBase) {
    const { messageKey } = mapping
    const mapper = pinoMapper(mapping)
    this.#slow = (line, isBase) => mapPinoLine(mapper, line, { messageKey, arrivedAt, isBase })
    this.#bases = [newBase(), newBase()]
    this.#bytes = new PinoBytes(mapping, { tail: encoder.logTail, isBase: this.#bases[0] })
  }

  /** The bodies of lines that were written as bytes; undefined for each line that is left to the slow way. The bytes from `stop` on do not count. */
  bodies(text: string, stop = Buffer.byteLength(text)): (string | undefined)[] {
    const bytes = Buffer.from(text)
    return linesOf(bytes, stop).map(([from, end]) => {
      const line = bytes.toString('utf8', from, end)
      const [own, other] = this.#bases
      const expected = this.#slow(line, other)
      const body = writtenBody(this.#bytes, bytes, from, stop)
      if (body === undefined) expect(this.#slow(line, own)).toEqual(expected)
      else {
        const { number, severity } = this.#bytes
        expect(body).toBe(encoder.completeLog(logHead(expected.fields)))
        expect({ number, severity }).toEqual({ number: expected.number, severity: expected.severity })
      }
      return body
    })
  }
}

/** Learns the name, but takes any host. */
function learnedName(): IsBase {
  const learned = learnedBase()
  return (key, value) => key !== 'name' || learned(key, value)
}

const newBases = fc.oneof(
  fc.constant(learnedName),
  bases.map((isBase) => () => isBase),
)
/** Bounds near to the length of lines. */
const mappings = fc
  .tuple(pinoMappings, fc.constantFrom(100, 256, 32_768))
  .map(([mapping, maxMessageBytes]) => ({ ...mapping, maxMessageBytes }))

describe('a line of pino as bytes', () => {
  it('gives the result of the string or is left to it, whatever it contains', { timeout: 300_000 }, () => {
    fc.assert(
      fc.property(pinoLines, mappings, newBases, (line, mapping, newBase) => {
        new BothWays(mapping, newBase).bodies(line)
      }),
      { numRuns: runs({ some: 500, all: 50_000 }) },
    )
  })

  it('does so for all that JSON.stringify writes, and for any part of it', { timeout: 300_000 }, () => {
    const objects = fc.tuple(pinoHeads, writtenFields, fc.option(fc.nat(300)), mappings, newBases)
    fc.assert(
      fc.property(objects, ([head, fields, cutAt, mapping, newBase]) => {
        const line = fields === '' ? `${head}}` : `${head},${fields}}`
        new BothWays(mapping, newBase).bodies(line, cutOf(line, cutAt))
      }),
      { numRuns: runs({ some: 500, all: 50_000 }) },
    )
  })

  it('does so whatever line came before it', { timeout: 300_000 }, () => {
    const heads = fc.array(pinoHeads, { minLength: 1, maxLength: 3 })
    fc.assert(
      fc.property(heads, runsOf(pinoFields), mappings, newBases, (starts, run, mapping, newBase) => {
        const lines = run.map((fields, number) => {
          const start = starts[number % starts.length]
          return `${start}${fields.map(([key, value]) => `,"${key}":${value}`).join('')}}`
        })
        new BothWays(mapping, newBase).bodies(lines.join('\n'))
      }),
      { numRuns: runs({ some: 500, all: 50_000 }) },
    )
  })

  it('takes the name of a logger from no other line with the same start', () => {
    const named = `${pinoHead},"name":"shop"}`
    const lines = [named, `${pinoHead},"not":JSON}`, named]
    expect(new BothWays(mapping, learnedName).bodies(lines.join('\n'))).toEqual([
      expect.any(String),
      undefined,
      expect.any(String),
    ])
  })

  it.each([
    `${pinoHead},"msg":"hello"}`,
    `${pinoHead},"orderId":7,"customer":"c-17","total":99.5,"paid":true,"coupon":null,"debt":-1.25,"msg":"héllo → 😀"}`,
    `${pinoHead},"msg":"message first","a":1,"b":"two"}`,
    `${pinoHead},"a":1,"msg":"in the middle","b":"two"}`,
    `${pinoHead},"a":1}`,
    `${pinoHead}}`,
    `${pinoHead},"eventId":1001,"msg":"an event"}`,
    `${pinoHead},"name":"shop","msg":"a logger with a name"}`,
    `{"level":35,"time":${arrivedAt},"msg":"a logger without a base","a":""}`,
    `${pinoHead},"path":"C:\\\\temp\\n","quoted":"a \\"b\\"","control":"\\u0001\\u001b[31m","msg":"\\"line\\"\\nline\\ttab"}`,
    `${pinoHead},"req":{"id":1,"headers":{"host":"a","x":[1,"b",[],{}]}},"res":{"statusCode":200},"msg":"request"}`,
    `${pinoHead},"ms":0.30000000000000004,"big":1e+21,"small":1.5e-7,"tiny":0.000001,"long":9007199254740991,"msg":"numbers"}`,
    `${pinoHead},"err":"only a text","error":null,"msg":"no error"}`,
  ])('is written as bytes: %s', (line) => {
    expect(new BothWays(mapping, learnedName).bodies(line)).toEqual([expect.any(String)])
  })

  it('is written as bytes when pino has written it', () => {
    const lines: string[] = []
    const options = { level: 'trace', name: 'shop', customLevels: { notice: 35 } }
    const logger = pino(options, { write: (line: string) => void lines.push(line) })
    const child = logger.child({ component: 'checkout', requestId: 'r-1' })
    for (const each of [logger, child]) {
      each.info('hello')
      each.warn({ orderId: 7, total: 99.5, paid: true, coupon: null }, 'order "%s" placed', 'x')
      each.error({ req: { method: 'GET', url: '/', headers: { host: 'a' } }, tags: ['a', 'b'] }, 'two\nlines')
      each.debug({ path: 'C:\\temp', responseTime: 12.345678901234 })
      each.notice('héllo → 😀')
    }
    const bodies = new BothWays(mapping, learnedBase).bodies(lines.join('').trimEnd())
    expect(bodies.filter((body) => body === undefined)).toEqual([])
  })

  it('is written as bytes after a line with another start', () => {
    const bare = `{"level":30,"time":${arrivedAt},"msg":"a logger without a base"}`
    const pidAlone = `{"level":30,"time":${arrivedAt + 1},"pid":1,"msg":"m"}`
    const line = `${pinoHead},"msg":"m"}`
    const bodies = new BothWays(mapping, () => () => true).bodies(
      [bare, line, line, pidAlone, pidAlone, line, line, bare, bare].join('\n'),
    )
    const isWritten = bodies.map((body) => body !== undefined)
    expect(isWritten.filter((_, number) => [0, 2, 4, 6, 8].includes(number))).toEqual([true, true, true, true, true])
  })

  it.each(['ms', 's'] as const)('has its own time, where all else is equal, in %s', (timestampUnit) => {
    const lines = [0, 1, 1111, 0].map((later) => `{"level":30,"time":${arrivedAt + later},"pid":1,"msg":"m"}`)
    const bodies = new BothWays({ ...mapping, timestampUnit }, learnedName).bodies(lines.join('\n'))
    expect(bodies).not.toContain(undefined)
  })

  it.each([
    ['characters', 'a', '"%"'],
    ['escapes', '\\n', '"%"'],
    ['digits', '1', '%'],
    ['digits behind a point', '1', '1.%'],
    ['numbers', '1,', '[%1]'],
    ['empty arrays', '[],', '[%[]]'],
    ['empty objects', '{},', '[%{}]'],
    ['objects', '{"a":"b"},', '[%{}]'],
  ])('fits the room for its bytes, and is left to the string, when it has too many %s', (_, piece, around) => {
    const short = { ...mapping, maxMessageBytes: 256 }
    for (const key of ['a', 'msg']) {
      const line = `${pinoHead},"${key}":${around.replace('%', piece.repeat(3000))}}`
      expect(new BothWays(short, learnedName).bodies(line)).toEqual([undefined])
      new BothWays(short, learnedName).bodies(line, 200)
    }
  })

  it('is left to the string when it has an error, or a key twice', () => {
    const lines = [
      `${pinoHead},"err":{"type":"Error","message":"boom","stack":"Error: boom\\n    at a"},"msg":"failed"}`,
      `${pinoHead},"a":1,"a":2,"msg":"twice"}`,
      `${pinoHead},"name":"Ann","msg":"a name after lines without one"}`,
    ]
    expect(new BothWays(mapping, learnedName).bodies(lines.join('\n'))).toEqual([undefined, undefined, undefined])
  })
})
