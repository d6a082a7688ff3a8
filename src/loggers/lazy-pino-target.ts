import type { Writable } from 'node:stream'
import { SentConfig } from './pino-logger.js'
import type { PinoTargetOptions } from './pino-target.js'

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
  const config = new SentConfig()
  // An application that uses sluicePino() reads none of it.
  const target = await import('./pino-target.js')
  await config.awaited()
  return target.pinoTarget(options, config)
}
