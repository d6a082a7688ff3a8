import { PassThrough, Writable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { captureSluice } from 'sluice/testing'
import { SluiceTransport } from 'sluice/winston'
import { describe, expect, it } from 'vitest'
import winston from 'winston'
import type Transport from 'winston-transport'
import { runs } from '../support/full.js'

/** A transport with a record of its messages. */
interface Pair {
  readonly transport: Transport
  readonly got: () => readonly string[]
}

const operations = [
  'log',
  'log of the child',
  'add',
  'add to the child',
  'add to the other',
  'remove',
  'remove from the other',
  'clear',
  'configure',
  'handle exceptions',
  'unhandle',
  'turn',
] as const
type Operation = (typeof operations)[number]

/** What a transport gets where an application does all of this. */
async function received({ transport, got }: Pair, all: readonly Operation[]): Promise<readonly string[]> {
  const keep = new winston.transports.Stream({ stream: new PassThrough().resume() })
  const logger = winston.createLogger({ level: 'silly', transports: [keep] })
  const other = winston.createLogger({ level: 'silly', transports: [keep] })
  const child = logger.child({ of: 'child' })
  for (const each of [logger, other]) each.setMaxListeners(0).on('error', () => {})
  let number = 0
  const does: Record<Operation, () => unknown> = {
    log: () => [logger, other].map((each, index) => each.info(`${number++} of ${index}`)),
    'log of the child': () => child.info(`${number++} of the child`),
    add: () => logger.add(transport),
    'add to the child': () => child.add(transport),
    'add to the other': () => other.add(transport),
    remove: () => logger.remove(transport),
    'remove from the other': () => other.remove(transport),
    clear: () => logger.clear().add(keep),
    configure: () => logger.configure({ level: 'silly', transports: [keep, transport] }),
    'handle exceptions': () => logger.exceptions.handle(transport),
    unhandle: () => logger.exceptions.unhandle(),
    turn,
  }
  for (const operation of all) await does[operation]()
  await turn()
  for (const each of [logger, other]) each.close()
  return got()
}

describe('the loggers of a transport', () => {
  it('give it what they give a Stream transport, in whatever order it is added, removed and configured', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...operations), { maxLength: 25 }), async (all) => {
        const lines: string[] = []
        const stream = new Writable({
          objectMode: true,
          write: (info, _, next) => {
            lines.push(info.message)
            next()
          },
        })
        const theirs = new winston.transports.Stream({ stream, level: 'silly' }).setMaxListeners(0)
        const expected = await received({ transport: theirs, got: () => lines }, all)
        using captured = captureSluice()
        const transport = new SluiceTransport({ level: 'silly' }).setMaxListeners(0)
        const messages = () => captured.logs.map(({ message }) => message.replace(/ \{.*/, ''))
        expect(await received({ transport, got: messages }, all)).toEqual(expected)
      }),
      { numRuns: runs({ some: 60, all: 5000 }) },
    )
  })

  it('may be 30 before Node warns', () => {
    expect(new SluiceTransport({ disabled: true }).getMaxListeners()).toBe(30)
  })

  it('may be a child logger, whose lines it gets', () => {
    using captured = captureSluice()
    const child = winston.createLogger().child({ of: 'child' })
    child.add(new SluiceTransport())
    child.info('a line')
    expect(captured.logs.map(({ message }) => message)).toEqual(['a line {"of":"child"}'])
  })

  const { createLogger } = winston
  it.each<[string, (logger: winston.Logger, transport: SluiceTransport) => unknown, number]>([
    ['removed', (logger, transport) => logger.remove(transport), 1],
    ['in a logger that closes', (logger) => logger.close(), 1],
    [
      'still that of another logger',
      (logger, transport) => [createLogger({ transports: transport }), logger.close()],
      0,
    ],
    [
      'still the handler of exceptions',
      (logger, transport) => {
        logger.exceptions.handle(transport)
        logger.remove(transport)
        const { length } = closed
        logger.exceptions.unhandle()
        return length
      },
      0,
    ],
  ])('call its option close and the close of a subclass where it is %s: %#', (_, leave, times) => {
    using _captured = captureSluice()
    closed.length = 0
    class Own extends SluiceTransport {
      override close() {
        closed.push('subclass')
        super.close()
      }
    }
    for (const transport of [new Own(), new SluiceTransport({ close: () => closed.push('option') })])
      leave(createLogger({ transports: [transport] }), transport)
    expect(closed).toEqual(['subclass', 'option'].slice(0, 2 * times))
  })

  it('do not lose it when one of them has waited for it to finish after an exception', async () => {
    using captured = captureSluice()
    const transport = new SluiceTransport({ handleExceptions: true })
    const loggers = [1, 2].map(() => createLogger({ transports: [transport], exitOnError: false }))
    const finished = new Promise((resolve) => void transport.once('finish', resolve))
    transport._ending = true
    loggers[0]!.info('of an exception')
    await finished
    for (const logger of loggers) logger.info('after it')
    await turn()
    expect(captured.logs.map(({ message }) => message)).toEqual(['of an exception', 'after it', 'after it'])
    for (const logger of loggers) logger.close()
  })
})

const closed: string[] = []
