import fc from 'fast-check'
import pino from 'pino'
import { createSluice } from 'sluice'
import { sluicePino } from 'sluice/pino'
import { SluiceTransport } from 'sluice/winston'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import winston from 'winston'
import { addsUp } from '../../support/delivery.js'
import { runs } from '../../support/full.js'
import { startTestReceiver, type TestReceiver } from '../../support/receiver.js'

let receiver: TestReceiver
beforeAll(async () => {
  receiver = await startTestReceiver()
})
/** Ends the users of an engine: one that is left would lengthen each flush of this process. */
const ends: (() => unknown)[] = []
afterAll(async () => {
  await Promise.all(ends.map((end) => end()))
  await receiver.close()
})

let engines = 0

/** Everything that an application can call, on one engine that four users share. */
function application(mode: 'worker' | 'inline') {
  const { SLUICE_URL: url, SLUICE_API_KEY: apiKey, SLUICE_BUCKET: bucket } = receiver.variables
  const options = { url, apiKey, bucket, mode, appName: `application ${engines++}` } as const
  const sluices = [createSluice(options), createSluice(options)]
  const stream = sluicePino(options)
  const pinoLogger = pino(stream)
  const transport = new SluiceTransport(options)
  // winston itself reports a line that comes after its own end as an error.
  const winstonLogger = winston.createLogger({ transports: [transport] }).on('error', () => {})
  const calls: Record<string, () => unknown> = {
    'track 0': () => sluices[0]!.track(1001),
    'track 1': () => sluices[1]!.track(1002),
    'track with a bad number': () => sluices[0]!.track(-1),
    'flush 0': () => sluices[0]!.flush(),
    'flush 1': () => sluices[1]!.flush({ timeoutMs: 100 }),
    'stats 0': () => sluices[0]!.stats(),
    'close 0': () => sluices[0]!.close(),
    'close 0 without time': () => sluices[0]!.close({ timeoutMs: 0 }),
    'close 1': () => sluices[1]!.close(),
    'dispose of 1': () => sluices[1]![Symbol.asyncDispose](),
    'logger.info of pino': () => pinoLogger.info('a line of pino'),
    'logger.flush of pino': () => new Promise<void>((done) => pinoLogger.flush(() => done())),
    'stream.end of pino': () => stream.end(),
    'logger.info of winston': () => winstonLogger.info('a line of winston'),
    'transport.close of winston': () => transport.close(),
    'logger.end of winston': () => winstonLogger.end(),
    'wait for all so far': () => undefined,
  }
  ends.push(async () => {
    stream.end()
    transport.close()
    await Promise.all(sluices.map((sluice) => sluice.close()))
  })
  return { calls, sluices }
}

describe.each([
  ['inline', runs({ some: 10, all: 40 })],
  ['worker', runs({ some: 3, all: 12 })],
] as const)('calls after close(), mode %s', (mode, numRuns) => {
  it('neither throw nor reject nor hang, in whatever order, and everything is counted', async () => {
    const rejections: unknown[] = []
    const hear = (error: unknown) => void rejections.push(error)
    process.on('unhandledRejection', hear)
    const names = Object.keys(application('inline').calls)
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...names), { minLength: 5, maxLength: 40 }), async (order) => {
        const { calls, sluices } = application(mode)
        let answers: unknown[] = []
        for (const name of order) {
          answers.push(calls[name]!())
          if (name.startsWith('wait')) answers = [await Promise.all(answers)]
          expect(addsUp(sluices[0]!.stats())).toBe(true)
        }
        await Promise.all(answers)
        await Promise.all(sluices.map((sluice) => sluice.close()))
        for (const name of names.filter((each) => !each.includes('end'))) await calls[name]!()
        expect(addsUp(sluices[0]!.stats())).toBe(true)
      }),
      { numRuns },
    )
    process.off('unhandledRejection', hear)
    expect(rejections).toEqual([])
  }, 120_000)
})
