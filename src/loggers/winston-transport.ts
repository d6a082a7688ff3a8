import TransportStream from 'winston-transport'
import { optionTable } from '../options/defaults.js'
import type { SluiceOptions } from '../options/options.js'
import { type WinstonInfo, winstonMapper } from '../records/from-winston.js'
import { configure } from '../worker/configure.js'
import { type EngineLease, leaseEngine } from '../worker/shared-engines.js'

/** Options of Sluice together with winston-transport's own (`level`, `format`, `silent`, `handleExceptions`, …). */
export type SluiceTransportOptions = SluiceOptions & TransportStream.TransportStreamOptions

/** winston-transport's own options; `level` is winston's too. */
const transportOptions: ReadonlySet<string> = new Set([
  'format',
  'level',
  'silent',
  'handleExceptions',
  'handleRejections',
  'highWaterMark',
  'log',
  'logv',
  'close',
])

/**
 * winston's transport.
 *
 *     winston.createLogger({ transports: [new SluiceTransport()] })
 *
 * Each line is mapped at once, so that later changes to what was logged change nothing, and `info` is never changed.
 *
 * @throws {ConfigError} for an option or variable that is invalid, missing or unknown
 */
export class SluiceTransport extends TransportStream {
  declare readonly levels?: Record<string, number>
  readonly #lease: EngineLease | undefined
  readonly #map: ReturnType<typeof winstonMapper> | undefined

  constructor(options: SluiceTransportOptions = {}) {
    const [own, theirs] = partition(options)
    const resolution = configure(own, 'logs')
    const level = resolution.state === 'on' ? (theirs.level ?? resolution.options.level) : theirs.level
    super({ ...theirs, ...(level === undefined ? {} : { level }) })
    if (resolution.state === 'off') return
    this.#lease = leaseEngine(resolution.options)
    this.#map = winstonMapper(resolution.options)
  }

  /** Called by winston for each line. Calls back at once: the line is accepted when it returns. */
  override log(info: WinstonInfo, callback?: () => void): boolean {
    try {
      if (this.#map !== undefined) this.#lease?.engine.log(this.#map(info, this.levels, Date.now()))
    } catch (error) {
      this.#lease?.engine.telling.misused('SLUICE_UNMAPPED', `a line could not be mapped: ${String(error)}`)
    }
    callback?.()
    this.emit('logged', info)
    return true
  }

  /** `logger.end()`: winston emits `finish` when what was logged is settled. */
  override _final(callback: (error?: Error | null) => void): void {
    void this.#release().then(() => callback())
  }

  /** winston removes the transport from its logger. */
  override close(): void {
    void this.#release()
  }

  async #release(): Promise<void> {
    await this.#lease?.release()
  }
}

function partition(options: SluiceTransportOptions): [SluiceOptions, TransportStream.TransportStreamOptions] {
  const entries = Object.entries(options)
  const ours = entries.filter(([name]) => Object.hasOwn(optionTable, name) || !transportOptions.has(name))
  const theirs = entries.filter(([name]) => transportOptions.has(name))
  return [Object.fromEntries(ours), Object.fromEntries(theirs)]
}
