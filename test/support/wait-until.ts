import pino from 'pino'
import { createSluice, type SluiceOptions } from 'sluice'
import { sluicePino } from 'sluice/pino'
import { SluiceTransport } from 'sluice/winston'
import { onTestFinished } from 'vitest'
import winston from 'winston'
import { rowsOf } from './full.js'
import type { TestReceiver } from './receiver.js'

export type WaitUntil = NonNullable<SluiceOptions['waitUntil']>
type Options = Omit<SluiceOptions, 'level'>

const allModes = ['worker', 'inline'] as const
export const modes = rowsOf(allModes, (mode) => mode === 'inline')

/** Every way of a record out of the application's thread. Each returns a function that makes the record with this number. */
const ways: readonly (readonly [string, (options: Options) => (number: number) => void])[] = [
  [
    'sluicePino()',
    (options) => {
      const stream = sluicePino(options)
      onTestFinished(() => void stream.end())
      const logger = pino(stream)
      return (number) => logger.info(`${number}`)
    },
  ],
  [
    'SluiceTransport',
    (options) => {
      const transport = new SluiceTransport(options)
      onTestFinished(() => transport.close())
      const logger = winston.createLogger({ transports: [transport] })
      return (number) => void logger.info(`${number}`)
    },
  ],
  [
    'winston with a format of its own',
    (options) => {
      const transport = new SluiceTransport(options)
      onTestFinished(() => transport.close())
      const logger = winston.createLogger({ transports: [transport], format: winston.format.simple() })
      return (number) => void logger.info(`${number}`)
    },
  ],
  ['createSluice', (options) => trackerOf(options)],
]
/** Each of them in each mode; in `npm test` each way once. */
export const matrix = rowsOf(
  ways.flatMap(([name, way]) => allModes.map((mode) => [name, mode, way] as const)),
  ([name, mode]) => (mode === 'worker') === (name === 'sluicePino()'),
)

/** The last of these ways. */
export function trackerOf(options: Options): (number: number) => void {
  const sluice = createSluice(options)
  onTestFinished(() => void sluice.close({ timeoutMs: 0 }))
  return (number) => sluice.track(number)
}

/** The numbers of all records that a receiver has. */
export async function delivered(receiver: TestReceiver): Promise<number[]> {
  const logs = await receiver.logs()
  const values = await receiver.values()
  return [...logs.map(({ message }) => Number(message)), ...values.map(({ eventId }) => eventId)].sort((a, b) => a - b)
}

/** Resolves in the next turn of the event loop. */
export const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Promises that a platform was given. */
export function collector() {
  const promises: Promise<void>[] = []
  const waitUntil: WaitUntil = (promise) => void promises.push(promise)
  return { promises, waitUntil }
}
