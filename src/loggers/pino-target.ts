import type { Writable } from 'node:stream'
import build from 'pino-abstract-transport'
import { processRegistry } from '../process/registry.js'
import { setImmediate } from '../runtime/clock.js'
import { LineIntake, type LineIntakePlan } from './line-intake.js'
import { type PinoTargetOptions, startPinoDelivery } from './pino-delivery.js'
import type { PinoConfig } from './pino-logger.js'

export type { PinoTargetOptions } from './pino-delivery.js'

/**
 * pino's target: runs in pino's worker and delivers from there. Options that are left out come from the environment.
 *
 *     pino({ transport: { target: 'sluice/pino' } })
 *
 * An unknown option that is not similar to one of Sluice's may be an option of a later pino. It is ignored, with a line on stderr.
 *
 * While variables are missing or wrong it is off, with one line on stderr. The worker has the environment of its start: variables that are set
 * later do not reach it.
 *
 * @throws {ConfigError} for an option in code that is invalid or unknown, or a function. It is thrown at the start of the worker, and pino
 *   emits it as `error` of the transport
 */
export async function pinoTarget(options: PinoTargetOptions = {}): Promise<Writable> {
  const written = withoutPinos(options)
  // An application that ends soon would miss an error that comes when the worker is ready. The environment causes none.
  const early = Object.keys(written).length > 0 ? startPinoDelivery(written) : undefined
  if (early === undefined) processRegistry().starts?.()
  // pino sends its configuration to streams of pino-abstract-transport. Nothing else comes by this one.
  const config = await build(() => {}, { expectPinoConfig: true, metadata: false })
  let delivery = early
  let take: LineIntakePlan['take'] | undefined
  // Without options delivery starts when pino knows that the worker is ready. Lines wait in the stream until then.
  const started = new Promise<void>((resolve) => {
    setImmediate(() => {
      delivery ??= startPinoDelivery(written)
      take = delivery.taking(config as PinoConfig)
      resolve()
    })
  })
  const stream = new LineIntake({
    start: () => started,
    take: (bytes, from, end) => take?.(bytes, from, end),
    close: async () => delivery?.close(),
  })
  config.on('error', (error) => stream.emit('error', error))
  const flush = (callback: (error?: Error) => void) => {
    if (take !== undefined) delivery?.flush(callback)
    else stream.write('', () => delivery?.flush(callback))
  }
  return Object.assign(stream, { flush })
}

/** Names that pino 7 to 10 and thread-stream add to the options of a target. */
const addedByPino: ReadonlySet<string> = new Set(['levels', 'dedupe', 'targets', 'pipelines'])
/** Most names that they add begin like this. */
const namedByPino = /^(pino|\$)/i

/** The options of a target as they are written. */
export function withoutPinos(options: object): PinoTargetOptions {
  return Object.fromEntries(
    Object.entries(options).filter(([name]) => !addedByPino.has(name) && !namedByPino.test(name)),
  )
}
