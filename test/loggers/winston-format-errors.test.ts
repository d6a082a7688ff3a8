import { captureSluice } from 'sluice/testing'
import { SluiceTransport } from 'sluice/winston'
import { expect, it } from 'vitest'
import winston from 'winston'

const { combine, json, label, printf, timestamp } = winston.format
type Format = winston.Logform.Format

const secret = 'S3CRET'
interface Formats {
  /** Of the logger. @default winston's own */
  readonly format?: Format
  /** Of the transport. @default none */
  readonly own?: Format
}

/** The messages of the records of what `log` logs. */
function messagesOf({ format, own }: Formats, log: (logger: winston.Logger) => void): string[] {
  using captured = captureSluice()
  const transport = new SluiceTransport(own === undefined ? {} : { format: own })
  log(winston.createLogger({ transports: [transport], ...(format === undefined ? {} : { format }) }))
  return captured.logs.map(({ message }) => message.replace(/\n {4}at [^\n]+/g, ''))
}

const failure = (cause?: unknown) =>
  Object.assign(new Error(`boom ${secret}`, cause === undefined ? {} : { cause }), { code: 1 })
const maskMessage = winston.format((info) => {
  info.message = String(info.message).replace(` ${secret}`, '')
  return info
})

const masked = (text: unknown) => String(text).replaceAll(secret, '***')

it.each<[string, Formats, (logger: winston.Logger) => void]>([
  [
    'JSON of its own making',
    { format: printf(({ level, message }) => JSON.stringify({ level, message: masked(message) })) },
    (logger) => logger.error(failure()),
  ],
  [
    'JSON of the transport’s own making',
    { own: printf(({ message, stack }) => JSON.stringify({ message: masked(message), stack: masked(stack) })) },
    (logger) => logger.error(failure()),
  ],
  [
    'JSON with a field of its own making',
    {
      format: printf(({ message, err }) =>
        JSON.stringify({ message, err: { message: masked((err as Error).message) } }),
      ),
    },
    (logger) => logger.error('failed', { err: failure() }),
  ],
])('a message that %s has masked is not in the stack of the record', (_, formats, log) => {
  expect(messagesOf(formats, log)).toEqual([expect.stringMatching(/\*\*\*\nError: boom \*\*\*|Error: boom \*\*\*/)])
  expect(messagesOf(formats, log)[0]).not.toContain(secret)
})

it.each<[string, Formats]>([
  ['json', { format: combine(maskMessage(), timestamp(), json()) }],
  ['json of the transport', { own: combine(maskMessage(), json()) }],
])('a message that a format has shortened is not in the stack of the record: %s', (_, formats) => {
  const [message] = messagesOf(formats, (logger) => {
    const error = failure()
    if (formats.own !== undefined) error.stack = String(error.stack).replaceAll(secret, '')
    logger.error(error)
  })
  expect(message).toMatch(/^boom/)
  expect(message).not.toContain(secret)
})

it('an error that has a JSON of its own is what that shows', () => {
  const err = Object.assign(failure(), { toJSON: () => ({ kind: 'E' }) })
  expect(messagesOf({ format: combine(timestamp(), json()) }, (logger) => logger.error('failed', { err }))).toEqual([
    'failed {"err":{"kind":"E"}}',
  ])
})

it('a number that a replacer masks with null stays masked', () => {
  const format = json({ replacer: (key, value) => (key === 'amount' ? null : value) })
  expect(messagesOf({ format }, (logger) => logger.info('x', { amount: 4711, order: { amount: 4711 } }))).toEqual([
    'x {"amount":null,"order":{"amount":null}}',
  ])
})

it('the error of a line is in the record where the transport has a format of its own', () => {
  for (const own of [json(), combine(timestamp(), json()), label({ label: 'api' })]) {
    const [message] = messagesOf({ own }, (logger) =>
      logger.error(new Error('boom', { cause: new TypeError('inner') })),
    )
    expect(message).toMatch(/^boom.*\nError: boom\ncaused by: TypeError: inner$/)
  }
})

const untouching = winston.format((info) => info)

it('a format of the transport that makes no text hides nothing that JSON shows in other words', () => {
  const fields = { big: 5n, at: new Date(0), odd: Number.NaN, list: [{ big: 1234567890123456789n }, undefined] }
  expect(messagesOf({ own: untouching() }, (logger) => logger.info('x', { ...fields, inner: fields }))).toEqual(
    messagesOf({ format: combine(json()) }, (logger) => logger.info('x', { ...fields, inner: fields })),
  )
})

it('compares a deep object and its text in one walk', () => {
  let reads = 0
  let deep: object = {}
  for (let depth = 0; depth < 300; depth++) {
    const inner = deep
    deep = {
      get inner() {
        reads++
        return inner
      },
    }
  }
  let before = 0
  const counting = winston.format((info) => {
    before = reads
    return info
  })
  expect(messagesOf({ own: counting() }, (logger) => logger.info('x', { deep }))).toHaveLength(1)
  expect(reads - before).toBeLessThan(50)
})
