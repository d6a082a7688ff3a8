import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { captureSluice } from 'sluice/testing'
import { SluiceTransport } from 'sluice/winston'
import { describe, expect, it } from 'vitest'
import winston from 'winston'
import TransportStream from 'winston-transport'
import { runs } from '../support/full.js'

const LEVEL = Symbol.for('level')

/** All that an application sees of its transport, in order. */
type Trace = string[]

/** winston-transport's own stream, which takes every line at once and finishes later. */
class PlainTransport extends TransportStream {
  override log(info: unknown, callback?: () => void): void {
    callback?.()
    this.emit('logged', info)
  }

  override _final(callback: () => void): void {
    void Promise.resolve().then(callback)
  }
}

type Step = (transport: TransportStream, about: { logger: winston.Logger; trace: Trace }) => void

const levels = ['error', 'warn', 'info', 'debug'] as const
const infos = fc
  .record({
    level: fc.constantFrom(...levels, 'unheard'),
    message: fc.string(),
    exception: fc.constantFrom(undefined, true, false),
    rejection: fc.constantFrom(undefined, true),
  })
  .map((info) => ({ ...info, [LEVEL]: info.level }))

const formats: readonly (winston.Logform.Format | undefined)[] = [
  undefined,
  winston.format((info) => ({ ...info, message: `<${info.message}>` }))(),
  winston.format((info) => (info.level === 'info' ? false : info))(),
  winston.format((info) => {
    if (info.level === 'warn') throw new Error('a format that throws')
    return info
  })(),
]

const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: infos.map(
      (info): Step =>
        (transport) =>
          void transport.write({ ...info }),
    ),
  },
  infos.map(
    (info): Step =>
      (transport, { trace }) => {
        transport.write({ ...info }, () => void trace.push('called back'))
      },
  ),
  infos.map(
    (info): Step =>
      (transport) =>
        void transport.write({ ...info }, 'utf8'),
  ),
  fc.constant<Step>((transport) => transport.cork()),
  fc.constant<Step>((transport) => transport.uncork()),
  fc.boolean().map(
    (silent): Step =>
      (transport) =>
        Object.assign(transport, { silent }),
  ),
  fc.boolean().map(
    (handleExceptions): Step =>
      (transport) =>
        Object.assign(transport, { handleExceptions }),
  ),
  fc.constantFrom(undefined, ...levels).map(
    (level): Step =>
      (transport) =>
        Object.assign(transport, { level }),
  ),
  fc.constantFrom(...levels).map(
    (level): Step =>
      (_, { logger }) =>
        Object.assign(logger, { level }),
  ),
  fc.constantFrom(...formats).map(
    (format): Step =>
      (transport) =>
        Object.assign(transport, { format }),
  ),
  fc.constant<Step>((transport) => void transport.end()),
)

const options = fc.record(
  {
    level: fc.constantFrom(...levels),
    silent: fc.boolean(),
    handleExceptions: fc.boolean(),
    handleRejections: fc.constant(false),
    format: fc.constantFrom(...formats.filter((format) => format !== undefined)),
    highWaterMark: fc.constantFrom(1, 16),
  },
  { requiredKeys: [] },
)

/** Take the steps, and tell what could be seen. */
async function traceOf(transport: TransportStream, all: readonly Step[], batched: boolean): Promise<Trace> {
  const trace: Trace = []
  if (batched) {
    const logv = (infos: { chunk: { message: string } }[], next: () => void) => {
      trace.push(`together ${infos.map(({ chunk }) => chunk.message).join()}`)
      next()
    }
    Object.assign(transport, { logv })
  }
  const logger = winston.createLogger()
  logger.pipe(transport)
  transport.on('logged', ({ level, message }) => trace.push(`logged ${level} ${message}`))
  transport.on('finish', () => trace.push('finished'))
  transport.on('error', (error: Error) => trace.push(`failed ${error.message}`))
  for (const step of all) {
    try {
      step(transport, { logger, trace })
    } catch (error) {
      trace.push(`threw ${(error as Error).message}`)
    }
    trace.push('done')
  }
  await turn()
  return trace
}

describe('the write of the transport', () => {
  it('does what that of winston-transport does, whatever the options and the lines are', async () => {
    using _captured = captureSluice()
    const setting = fc.tuple(options, fc.array(steps, { maxLength: 30 }), fc.boolean())
    await fc.assert(
      fc.asyncProperty(setting, async ([options, all, batched]) => {
        const plain = await traceOf(new PlainTransport(options), all, batched)
        expect(await traceOf(new SluiceTransport(options), all, batched)).toEqual(plain)
      }),
      { numRuns: runs({ some: 60, all: 10_000 }) },
    )
  })
})
