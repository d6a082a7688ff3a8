import fc from 'fast-check'
import pino from 'pino'
import { createSluice, flush } from 'sluice'
import { sluicePino, sluicePinoOptions } from 'sluice/pino'
import { SluiceTransport } from 'sluice/winston'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import winston from 'winston'
import { full } from '../support/full.js'
import { startTestReceiver, type TestReceiver } from '../support/receiver.js'

let receiver: TestReceiver
beforeAll(async () => {
  receiver = await startTestReceiver()
})
afterAll(() => receiver.close())

const runs = full ? 40 : 2

function withGetter(): object {
  return {
    get bad() {
      throw new Error('getter')
    },
  }
}

function cyclic(): object {
  const value: Record<string, unknown> = { a: 1 }
  value.self = value
  return value
}

function deep(levels: number): unknown {
  let value: unknown = 'bottom'
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { value }
  return value
}

const trap = () => {
  throw new Error('trap')
}

/** Values that no schema allows, and that applications log nevertheless. */
const odd = fc.constantFrom<() => unknown>(
  () => withGetter(),
  () => cyclic(),
  () => deep(10_000),
  () => new Proxy({}, { get: trap, ownKeys: trap, getPrototypeOf: trap }),
  () => Buffer.alloc(1000),
  () => new Error('inner', { cause: cyclic() }),
  () => new AggregateError([new Error('one'), 2], 'both'),
  () => Symbol('s'),
  () => () => {},
  () => Number.NaN,
  () => 'x'.repeat(100_000),
  () => 'half \ud83d, NUL \0, \u001b[31mred\u001b[0m',
  () => new Date(Number.NaN),
  () => ({ time: 'never', level: 'high', msg: {}, message: 7, timestamp: null, eventId: -0.5, hostname: [] }),
)

const value = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withTypedArray: true,
      withSparseArray: true,
      withNullPrototype: true,
      withBoxedValues: true,
    }),
  },
  { weight: 2, arbitrary: odd.map((make) => make()) },
  { weight: 1, arbitrary: odd.map((make) => ({ in: { a: [make()] } })) },
)
const line = fc.record({ text: fc.string({ unit: 'binary', maxLength: 50 }), value })

/** Log a line; false when the logger itself does not survive it, so that nothing has reached Sluice. */
type Log = (id: string, line: { text: string; value: unknown }) => void

const ways: Record<string, () => Log> = {
  'pino with sluicePino()': () => {
    const logger = pino(sluicePino({ ...receiver.options, onError: () => {} }))
    return (id, { text, value }) => logger.info({ value }, `${id} ${text}`)
  },
  'pino with sluicePino() and sluicePinoOptions()': () => {
    const logger = pino(sluicePinoOptions(), sluicePino({ ...receiver.options, mode: 'inline', onError: () => {} }))
    return (id, { text, value }) => logger.info({ value, error: value }, `${id} ${text}`)
  },
  winston: () => {
    const transport = new SluiceTransport({ ...receiver.options, onError: () => {} })
    const logger = winston.createLogger({ format: winston.format((info) => info)(), transports: [transport] })
    return (id, { text, value }) => void logger.info(`${id} ${text}`, { value })
  },
  'winston with its own format': () => {
    const transport = new SluiceTransport({ ...receiver.options, mode: 'inline', onError: () => {} })
    const logger = winston.createLogger({ transports: [transport] })
    return (id, { text, value }) => void logger.info(`${id} ${text}`, { value }, value, 'behind')
  },
}

describe.each(Object.entries(ways))('whatever can be logged by %s', (_, way) => {
  it('becomes a record that the receiver takes, with its text in the message', async () => {
    const log = way()
    let count = 0
    let survived = 0
    await fc.assert(
      fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 40 }), async (lines) => {
        const expected = new Map<string, string>()
        for (const each of lines) {
          const id = `line-${process.pid}-${count++}:`
          try {
            log(id, each)
            expected.set(id, each.text)
            survived++
          } catch {
            // pino and winston themselves throw at some values.
          }
        }
        const before = await flush()
        expect({ rejected: before.rejected, queued: before.queued }).toEqual({ rejected: 0, queued: 0 })
        const stored = new Map((await receiver.logs()).map(({ message }) => [message.split(' ', 1)[0], message]))
        for (const [id, text] of expected) {
          const message = stored.get(id)
          expect(message, id).toBeDefined()
          expect(message?.startsWith(`${id} ${text.toWellFormed()}`), `${id} ${JSON.stringify(text)}`).toBe(true)
        }
      }),
      { numRuns: runs },
    )
    expect(survived).toBeGreaterThan(0.5 * count)
  }, 120_000)
})

describe('track with any arguments', () => {
  it('never throws, and what is no event is counted as invalid', async () => {
    const sluice = createSluice({ ...receiver.options, onError: () => {} })
    fc.assert(
      fc.property(value, value, (event, options) => {
        sluice.track(event as number, options as object)
      }),
    )
    const { accepted, invalid, delivered } = await sluice.close()
    expect(delivered).toBe(accepted)
    expect(accepted + invalid).toBeGreaterThanOrEqual(100)
    expect(invalid).toBeGreaterThan(0)
  })
})
