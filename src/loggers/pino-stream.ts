import { EventEmitter } from 'node:events'
import { fieldsForLine, lineWith } from '../context/line-context.js'
import { IdlePort } from '../engine/idle.js'
import type { ResolvedOptions, SluiceOptions } from '../options/options.js'
import { installProcessHooks } from '../process/install.js'
import { leaseFor, type UserLease } from '../process/lease.js'
import { LevelNames } from '../records/level.js'
import { type LineStyle, sharedStyle } from '../records/line-style.js'
import { queueMicrotask } from '../runtime/clock.js'
import { currentGate, type LevelGate, levelGate } from './level-gate.js'
import { asWrittenBy, type PinoConfig, type PinoLevels } from './pino-logger.js'

/**
 * A stream for pino in the application's own thread. Its lines go to the delivery worker that winston and `track` use, too. It needs no
 * file of its own, so it works in a bundle, where pino's targets do not, and in `pino.multistream`.
 *
 *     const logger = pino(sluicePino())
 *     const logger = pino({ level: 'debug' }, sluicePino({ bucket: 'b1' }))
 *
 * Options that are left out come from the environment. While variables are missing or wrong it is off, with one line on stderr, and looks for
 * new ones once a second at most.
 *
 * @throws {ConfigError} for an option in code that is invalid or unknown
 */
export function sluicePino(options: SluiceOptions = {}): SluicePinoStream {
  installProcessHooks()
  return new SluicePinoStream(leaseFor(options, 'logs'))
}

/** The event `message`, by which pino gives a stream the logger's configuration. */
interface PinoConfigMessage {
  readonly code?: unknown
  readonly config?: PinoConfig
}

/** How the lines of a logger are read. */
interface LineKind {
  readonly style: LineStyle
  readonly names: LevelNames
  readonly passes: LevelGate
}

const metadata: unique symbol = Symbol.for('pino.metadata')

/** The stream that {@link sluicePino} makes, for pino to write to. After `end()` it emits `finish` and `close` when all is settled. */
export class SluicePinoStream extends EventEmitter {
  /** With this, pino sets the properties below before each line. */
  readonly [metadata] = true
  /** Set by pino: number of the level of the line that follows. */
  lastLevel: number | undefined
  /** Set by pino: the logger of the line that follows. */
  lastLogger: { readonly levels?: PinoLevels | undefined } | undefined
  /** Set by pino: the fields of the call whose line follows. */
  lastObj: unknown
  /** Set by pino. Not used. */
  lastMsg: unknown
  /** Set by pino. Not used. */
  lastTime: unknown
  readonly #lease: UserLease
  /** Others come where variables are set late. */
  #options: ResolvedOptions
  #kinds = new WeakMap<PinoLevels, LineKind>()
  /** Configuration of each root logger, by its levels. */
  readonly #configs = new WeakMap<PinoLevels, PinoConfig>()
  #levels: PinoLevels | undefined
  #kind: LineKind = { style: sharedStyle({}), names: new LevelNames(), passes: () => true }
  #ended = false
  #finished = false

  /** @internal */
  constructor(lease: UserLease) {
    super()
    this.#lease = lease
    this.#options = lease.options
    this.on('message', (message: PinoConfigMessage) => {
      if (message?.code !== 'PINO_CONFIG') return
      const { levels } = message.config ?? {}
      if (levels !== undefined) this.#configs.set(levels, message.config ?? {})
      // An unknown level of the code throws where the logger is made.
      if (lease.sources.level !== 'SLUICE_LEVEL') levelGate(lease.options.level, levels?.values)
    })
  }

  /** With this, pino distinguishes a stream from options in `pino(stream)`. */
  get writable(): boolean {
    return !this.#ended
  }

  /** True once lines are refused: after {@link end}, or after `close()` of `sluice`. */
  get closed(): boolean {
    return this.#ended || this.#lease.engine.closed
  }

  /**
   * Takes a line. Never blocks. Always returns true: there is never a reason to wait.
   *
   * @param encoding of a text @default 'utf8'
   * @param callback called when the line is taken, and with an error when it is not, after {@link end}
   */
  write(line: string | Uint8Array, encoding?: BufferEncoding | Written, callback?: Written): boolean {
    const { engine, released, options } = this.#lease
    const written = typeof encoding === 'function' ? encoding : callback
    if (written !== undefined) queueMicrotask(() => written(released ? new Error('write after end') : null))
    if (engine instanceof IdlePort) return true
    try {
      if (options !== this.#options) this.#adopt(options)
      const { lastLevel, lastLogger } = this
      if (lastLogger !== undefined && lastLogger.levels !== this.#levels) this.#choose(lastLogger)
      const { style, names, passes } = this.#kind
      const severity = names.severityOf(lastLevel ?? 30)
      const below = lastLevel !== undefined && !passes({ number: lastLevel, severity })
      if (below && this.#options.keepForError === undefined) return true
      if (released) engine.refuse('logs')
      else engine.line(this.#complete(withoutEnd(line, encoding)), { style, severity, arrivedAt: Date.now(), below })
    } catch (error) {
      engine.unmapped(error)
    }
    return true
  }

  /** The line with the fields of its context. pino writes a line within the call that logs it. */
  #complete(line: string): string {
    const fields = fieldsForLine()
    if (fields === undefined) return line
    const { lastLogger, lastObj } = this
    return lineWith(line, { fields: lastLogger === undefined ? fields : asWrittenBy(lastLogger, fields), own: lastObj })
  }

  /** pino's `logger.flush(callback)`: calls back when all logged lines are settled, or after `shutdownTimeoutMs`. */
  flush(callback?: (error?: Error) => void): void {
    void this.#lease.engine.flush().then(() => callback?.())
  }

  /**
   * Deliver the logged lines and take no more.
   *
   * @param line a last one @default none
   * @param encoding of a text @default 'utf8'
   * @param callback called at `finish`
   */
  end(line?: string | Uint8Array | null | Ended, encoding?: BufferEncoding | Ended, callback?: Ended): this {
    const ended = [line, encoding, callback].find((each) => typeof each === 'function')
    const own = typeof encoding === 'string' ? encoding : undefined
    if (typeof line === 'string' || ArrayBuffer.isView(line)) this.write(line, own)
    if (ended !== undefined && this.#finished) queueMicrotask(ended)
    else if (ended !== undefined) this.once('finish', ended)
    if (this.#ended) return this
    this.#ended = true
    void this.#lease.release().then(() => {
      this.#finished = true
      this.emit('finish')
      this.emit('close')
    })
    return this
  }

  /** Read all lines in the way of these options from here on. */
  #adopt(options: ResolvedOptions): void {
    this.#options = options
    this.#kinds = new WeakMap()
    this.#levels = undefined
  }

  /** A child may have levels of its own. The rest of its configuration is that of the root. */
  #configOf(logger: object): PinoConfig {
    for (let each: object | null = logger; each !== null; each = Object.getPrototypeOf(each)) {
      const { levels } = each as { readonly levels?: PinoLevels }
      const config = levels === undefined ? undefined : this.#configs.get(levels)
      if (config !== undefined) return config
    }
    return {}
  }

  /** Reads the next lines in the way of this logger. */
  #choose(logger: { readonly levels?: PinoLevels | undefined }): void {
    const { levels } = logger
    this.#levels = levels
    if (levels === undefined) return
    let kind = this.#kinds.get(levels)
    if (kind === undefined) {
      const { messageKey, errorKey } = this.#configOf(logger)
      kind = {
        style: sharedStyle({ labels: levels.labels, messageKey, errorKey }),
        names: new LevelNames(levels.labels),
        passes: currentGate({
          level: this.#options.level,
          source: this.#lease.sources.level,
          values: levels.values,
          report: (text) => this.#lease.engine.misused('SLUICE_CONFIG_INVALID', text),
        }),
      }
      this.#kinds.set(levels, kind)
    }
    this.#kind = kind
  }
}

type Written = (error?: Error | null) => void
type Ended = () => void

function withoutEnd(given: string | Uint8Array, encoding: unknown): string {
  const line = typeof given === 'string' && typeof encoding !== 'string' ? given : decoded(given, encoding)
  let end = line.length
  if (line.charCodeAt(end - 1) === lineEnd) end--
  if (line.charCodeAt(end - 1) === carriageReturn) end--
  return line.slice(0, end)
}

function decoded(line: string | Uint8Array, encoding: unknown): string {
  if (typeof line === 'string') return Buffer.from(line, encoding as BufferEncoding).toString()
  return Buffer.from(line.buffer, line.byteOffset, line.byteLength).toString()
}

const lineEnd = '\n'.charCodeAt(0)
const carriageReturn = '\r'.charCodeAt(0)
