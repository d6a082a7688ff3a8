import type { Transform, Writable } from 'node:stream'
import build from 'pino-abstract-transport'
import { ConfigError } from '../errors/config-error.js'
import type { SluiceOptions } from '../options/options.js'
import { pinoMapper } from '../records/from-pino.js'
import { severityOfName } from '../records/level.js'
import { configure } from '../worker/configure.js'
import { Engine } from '../worker/engine.js'
import { processEngines } from '../worker/process-engines.js'

/** Options of the target: they cross into pino's worker, so that none of them can be a function. */
export type PinoTargetOptions = Omit<SluiceOptions, 'onError'>

/** What pino tells its transports of the logger. */
interface PinoConfig {
  readonly levels?: { readonly labels?: Record<string, string>; readonly values?: Record<string, number> }
  readonly messageKey?: string
  readonly errorKey?: string
}

/**
 * pino's target: runs in pino's worker and delivers from there. Options that are left out come from the environment.
 *
 *     pino({ transport: { target: 'sluice/pino' } })
 *
 * @throws {ConfigError} at the start of the worker, which pino emits as `error` of the transport
 */
export async function pinoTarget(options: PinoTargetOptions = {}): Promise<Writable> {
  const { pinoWillSendConfig: _, $context: __, ...own } = options as PinoTargetOptions & Record<string, unknown>
  const resolution = configure(own, 'logs')
  if (resolution.state === 'off') return build((source) => void source.resume(), { expectPinoConfig: true })

  const engine = new Engine(resolution.options, ['logs'])
  processEngines().add(engine)
  const stream = await build((source) => ship(source, engine), {
    expectPinoConfig: true,
    metadata: false,
    close: async () => {
      await engine.close()
    },
  })
  // pino's `logger.flush(callback)` waits for this where the transport is its only target.
  const flush = (callback: (error?: Error) => void) => void engine.flush().then(() => callback())
  return Object.assign(stream, { flush })
}

function ship(source: Transform & PinoConfig, engine: Engine): void {
  const { level, context, maxMessageBytes, timestampUnit } = engine.options
  const { levels, messageKey, errorKey } = source
  const map = pinoMapper({ labels: levels?.labels, messageKey, errorKey, context, maxMessageBytes, timestampUnit })
  const lowest = lowestLevel(level, levels?.values)
  source.on('data', (line: Record<string, unknown>) => {
    if (typeof line.level === 'number' && line.level < lowest) return
    engine.log(map(line, Date.now()))
  })
  source.on('unknown', (line: string) => {
    engine.log(map({ level: 30, [messageKey ?? 'msg']: line }, Date.now()))
  })
}

function lowestLevel(level: string | undefined, values: Record<string, number> | undefined): number {
  if (level === undefined) return Number.NEGATIVE_INFINITY
  const number = values?.[level] ?? severityNumber(level)
  if (number !== undefined) return number
  const message = `option level (SLUICE_LEVEL): expected a level of the logger, got ${JSON.stringify(level)}`
  throw new ConfigError({
    code: 'SLUICE_CONFIG_INVALID',
    option: 'level',
    variable: 'SLUICE_LEVEL',
    value: level,
    message,
  })
}

/** pino's number for a name of another logger, so that one SLUICE_LEVEL serves all. */
function severityNumber(level: string): number | undefined {
  const severity = severityOfName(level)
  return severity === undefined ? undefined : (severity + 1) * 10
}
