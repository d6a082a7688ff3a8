import Transport from 'winston-transport'
import { fieldsForLine, lineWith } from '../context/line-context.js'
import { IdlePort } from '../engine/idle.js'
import type { ResolvedOptions, SluiceOptions } from '../options/options.js'
import { table } from '../options/table.js'
import { type Lease, leaseFor } from '../process/lease.js'
import { processRegistry } from '../process/registry.js'
import { type Severity, severityOfName } from '../records/level.js'
import { type LineStyle, sharedStyle } from '../records/line-style.js'
import { type Redactor, redacting } from '../records/redactor.js'
import { setImmediate } from '../runtime/clock.js'
import { overridingLevel } from '../runtime/level-override.js'
import { ownField, ownFields } from '../runtime/own-fields.js'
import { fieldsOfCall, watchCalls } from './call-context.js'
import { silent, unknownLevel, unknownOverride } from './level-gate.js'
import { TransportLoggers } from './transport-loggers.js'
import { LEVEL, laidOut, levelOf, severityIn, type WinstonInfo, winstonLine } from './winston-line.js'

/** Options of Sluice together with winston-transport's own (`level`, `format`, `silent`, `handleExceptions`, …). */
export type SluiceTransportOptions = SluiceOptions & Transport.TransportStreamOptions

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
 * Each line is mapped at once, so later changes to logged objects have no effect. `info` is never changed.
 *
 * While variables are missing or wrong it is off, with one line on stderr, and looks for new ones once a second at most.
 *
 * @throws {ConfigError} for an option in code that is invalid or unknown
 */
export class SluiceTransport extends Transport {
  /** Set by winston: the levels of the logger, by name. */
  declare readonly levels?: Record<string, number>
  #lease: Lease
  /** The end of the leases before. */
  #earlier: Promise<unknown> = Promise.resolve()
  readonly #own: SluiceOptions
  /** The application has closed it: lines are refused until a logger adds it again. */
  #isClosed = false
  /** winston sets it when it waits for `finish` after a line of an exception or a rejection. */
  _ending = false
  /** Others come where variables are set late. */
  #options: ResolvedOptions
  #redactor: Redactor | undefined
  readonly #loggers: TransportLoggers
  /** Names and severities of the known levels, by winston's LEVEL. */
  readonly #known = new Map<unknown, KnownLevel>()
  /** The property `level`, as the application has set it. */
  #ownLevel: string | undefined
  /** The last level of `setLevel`, and the levels of the logger that was asked whether it knows it. */
  #asked: { readonly override: string; readonly levels: Record<string, number> | undefined } | undefined
  #isKnown = false
  #isPiped = false
  /** The line that is being written, before the transport's own format. */
  #writing: WinstonInfo | undefined
  #lastName: unknown
  #last: KnownLevel | undefined

  static {
    // winston reads it before each line, and for `logger.isLevelEnabled`. An accessor of the object itself would make all its properties slow.
    Object.defineProperty(SluiceTransport.prototype, 'level', {
      configurable: true,
      enumerable: true,
      get(this: SluiceTransport) {
        return this.#presentLevel()
      },
      set(this: SluiceTransport, level: string | undefined) {
        // winston-transport sets it before the fields of this class exist.
        if (#ownLevel in this) this.#ownLevel = level
      },
    })
  }

  constructor(options: SluiceTransportOptions = {}) {
    const [own, theirs] = partition(options)
    const lease = leaseFor(own, 'logs')
    super(theirs)
    // As winston's own transports do: each logger listens to some events.
    this.setMaxListeners(30)
    this.#own = own
    this.#lease = lease
    this.#options = lease.options
    this.#redactor = redacting(this.#options).redactor
    this.#ownLevel = theirs.level
    this.#loggers = new TransportLoggers(this, {
      added: (logger) => {
        this.#isPiped = true
        watchCalls(logger)
        this.#isClosed = false
        this.#renew()
      },
      left: () => this.#closeOfUser(),
      unused: () => void this.#release(),
    })
    processRegistry().holds?.(this.#loggers)
    this.once('pipe', (logger: { readonly level?: string }) => {
      const rank = ownField(this.levels ?? {}, this.#ownLevel ?? '')
      const ofLogger = ownField(this.levels ?? {}, logger.level ?? '')
      const keepsBelow = this.#lease.options.keepForError !== undefined
      // With a level that its logger does not have, winston would log nothing at all. Lines below it may be needed.
      const isInTheWay = rank === undefined || (keepsBelow && ofLogger !== undefined && rank <= ofLogger)
      if (isInTheWay) this.#ownLevel = undefined
    })
  }

  /**
   * A line is accepted when `log` returns, so the stream's queue, `process.nextTick` and `drain` would only cost time. A line that winston
   * pipes in goes straight to winston-transport's `_write`, which handles `level`, `format`, `silent` and exceptions. All other cases (a
   * callback, a stream that is corked, busy, ended or destroyed) are left to the stream.
   */
  override write(info: unknown, encoding?: unknown, callback?: unknown): boolean {
    const { _writableState: state } = this as unknown as { _writableState?: StreamState }
    const plain = encoding === undefined && callback === undefined && typeof info === 'object' && info !== null
    const given = this.format === undefined ? info : laidOut(info)
    if (!plain || state === undefined || !isIdle(state))
      return (super.write as (...all: unknown[]) => boolean).call(this, given, encoding, callback)
    // As `_write` below, without a closure for each line.
    const outer = this.#writing
    this.#writing = given as WinstonInfo
    try {
      super._write(given, 'utf8', settled)
    } finally {
      this.#writing = outer
    }
    return true
  }

  /** A line, before the transport's own format. */
  override _write(info: unknown, ...rest: [encoding: BufferEncoding, callback: () => void]): void {
    this.#whileWriting(info, () => super._write(info, ...rest))
  }

  /** Lines that have waited in the stream. With `logv`, the application takes them together. */
  override _writev(chunks: { readonly chunk: unknown }[], callback: (error?: null) => void): void {
    const writeAll = super._writev as (chunks: unknown[], callback: (error?: null) => void) => void
    if (this.logv !== undefined) {
      writeAll.call(this, chunks, callback)
      return
    }
    try {
      for (const each of chunks) this.#whileWriting(each.chunk, () => writeAll.call(this, [each], settled))
    } finally {
      callback(null)
    }
  }

  #whileWriting(info: unknown, write: () => void): void {
    const outer = this.#writing
    this.#writing = info as WinstonInfo
    try {
      write()
    } finally {
      this.#writing = outer
    }
  }

  /** Called by winston for each line. Calls back at once: the line is accepted when it returns. */
  override log(info: WinstonInfo, callback?: () => void): boolean {
    this.#accept(info)
    callback?.()
    this.emit('logged', info)
    if (this._ending) this.#finishSoon()
    return true
  }

  #accept(info: WinstonInfo): void {
    try {
      // A logger that has it as a handler of exceptions writes to it without a pipe.
      if (!this.#isClosed) this.#renew()
      const { engine, released, options } = this.#lease
      if (engine instanceof IdlePort) return
      if (options !== this.#options) {
        this.#options = options
        this.#redactor = redacting(options).redactor
      }
      const { level, severity, style } = this.#levelOf(info)
      const below = !this.#passes(level, severity)
      if (below && this.#lease.options.keepForError === undefined) return
      if (released) {
        engine.refuse('logs')
        return
      }
      const before = this.format === undefined ? undefined : this.#writing
      const redactor = this.#redactor
      const told = style.level === undefined ? level : undefined
      const { text, errors } = winstonLine(info, { before, redactor, level: told, maxChars: options.maxMessageBytes })
      const fields = this.#isPiped ? fieldsOfCall(this.#writing ?? info) : fieldsForLine()
      engine.line(fields === undefined ? text : lineWith(text, { fields, own: info }), {
        style,
        severity,
        arrivedAt: Date.now(),
        below,
        errors,
        redacted: redactor?.takeRedacted() === true,
      })
    } catch (error) {
      this.#lease.engine.unmapped(error)
    }
  }

  #levelOf(info: WinstonInfo): KnownLevel {
    const name = info[LEVEL]
    if (name === this.#lastName && this.#last !== undefined) return this.#last
    let known = this.#known.get(name)
    if (known === undefined) {
      const level = levelOf(info)
      // An application has few levels. Anything beyond that is not remembered, and its lines say their level themselves.
      const isFew = typeof name === 'string' && this.#known.size < 100
      const style = sharedStyle(isFew ? { logger: 'winston', level } : { logger: 'winston' })
      known = { level, severity: severityIn(this.levels, level), style }
      if (!isFew) return known
      this.#known.set(name, known)
    }
    this.#lastName = name
    this.#last = known
    return known
  }

  /** The level of the transport, as winston reads it: that of `setLevel` where it takes the place of one that the transport has. */
  #presentLevel(): string | undefined {
    if (this.#ownLevel === undefined || this.levels === undefined) return this.#ownLevel
    const override = this.#override()
    if (override === undefined) return this.#ownLevel
    return Object.hasOwn(this.levels, override) ? override : undefined
  }

  /** The level of `setLevel`, if the logger knows it. */
  #override(): string | undefined {
    const override = overridingLevel()
    if (override === undefined) return undefined
    if (override !== this.#asked?.override || this.levels !== this.#asked.levels) {
      this.#asked = { override, levels: this.levels }
      this.#isKnown =
        override === silent || this.#rankOf(override) !== undefined || severityOfName(override) !== undefined
      if (!this.#isKnown) this.#lease.engine.misused('SLUICE_CONFIG_INVALID', unknownOverride(override))
    }
    return this.#isKnown ? override : undefined
  }

  /** winston itself handles a `level` of the transport that its logger has. It may change while the application runs. */
  #passes(level: string, severity: Severity): boolean {
    const wanted = this.#override() ?? this.#options.level
    if (wanted === undefined || (this.level !== undefined && this.levels !== undefined)) return true
    return this.#isSevereEnough(wanted, { level, severity })
  }

  /** The option `level` is a level of the logger, or a level's name in another logger. */
  #isSevereEnough(wanted: string, { level, severity }: Omit<KnownLevel, 'style'>): boolean {
    if (wanted === silent) return false
    const rank = this.#rankOf(wanted)
    const own = this.#rankOf(level)
    if (rank !== undefined && own !== undefined) return own <= rank
    const lowest = severityOfName(wanted)
    if (lowest === undefined) this.#lease.engine.misused('SLUICE_CONFIG_INVALID', unknownLevel(wanted))
    return lowest === undefined || severity >= lowest
  }

  /** Levels are sent in lower case, so they are compared without case. */
  #rankOf(level: string): number | undefined {
    const rank = this.levels && ownField(this.levels, level)
    if (rank !== undefined || this.levels === undefined) return rank
    const name = Object.keys(this.levels).find((each) => each.toLowerCase() === level.toLowerCase())
    return name === undefined ? undefined : this.levels[name]
  }

  /** `logger.end()`: winston calls it for each of its transports. */
  override end(...all: unknown[]): this {
    if (this.#loggers.goOnAfter(() => Promise.all([this.#earlier, this.#lease.engine.flush()]))) return this
    return (super.end as (...all: unknown[]) => this).apply(this, all)
  }

  /** winston emits `finish` when all logged lines are settled. */
  override _final(callback: (error?: Error | null) => void): void {
    void this.#release().then(() => callback())
  }

  /** Delivers the lines so far and refuses later ones, until a logger adds the transport again. */
  override close(): void {
    this.#isClosed = true
    void this.#release()
  }

  /** Its last logger has left: call the option `close`, or the method of a subclass, as winston does. Who logs to it all the same is heard. */
  #closeOfUser(): void {
    if (this.close === SluiceTransport.prototype.close) return
    const isClosed = this.#isClosed
    try {
      this.close()
    } finally {
      this.#isClosed = isClosed
    }
  }

  /** winston ends the process at this event, or after three seconds without it. The exit delivers. Transports beside write their line before. */
  #finishSoon(): void {
    this._ending = false
    setImmediate(() => this.#loggers.finish())
  }

  /** A new lease in place of a released one. */
  #renew(): void {
    if (!this.#lease.released) return
    this.#earlier = this.#release()
    this.#lease = leaseFor(this.#own, 'logs')
  }

  async #release(): Promise<void> {
    await Promise.all([this.#earlier, this.#lease.release()])
  }
}

interface KnownLevel {
  readonly level: string
  readonly severity: Severity
  readonly style: LineStyle
}

/** The part of the state of readable-stream's `Writable` that is read here. */
interface StreamState {
  readonly length: number
  readonly corked: number
  readonly ending: boolean
  readonly destroyed: boolean
}

function isIdle({ length, corked, ending, destroyed }: StreamState): boolean {
  return length === 0 && corked === 0 && !ending && !destroyed
}

function settled(): void {}

function partition(options: SluiceTransportOptions): [SluiceOptions, Transport.TransportStreamOptions] {
  const entries = Object.entries(options)
  const ours = entries.filter(([name]) => Object.hasOwn(table, name) || !transportOptions.has(name))
  const theirs = entries.filter(([name]) => transportOptions.has(name))
  return [Object.fromEntries(ours), ownFields(Object.fromEntries(theirs))]
}
