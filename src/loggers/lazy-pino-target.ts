import type { Writable } from 'node:stream'
import type { PinoTargetOptions } from './pino-target.js'

/**
 * The target of `sluice/pino` under the name `sluice`, for pino alone: `pino({ transport: { target: 'sluice' } })`. It is loaded when pino's
 * worker calls it, so that `import 'sluice'` costs nothing for it.
 *
 * @throws {ConfigError} see `pinoTarget` of `sluice/pino`
 */
export async function lazyPinoTarget(options?: PinoTargetOptions): Promise<Writable> {
  const { pinoTarget } = await import('./pino-target.js')
  return pinoTarget(options)
}
