import { randomUUID } from 'node:crypto'
import { Delivery } from '../delivery/delivery.js'
import type { LaneName, Ledger } from '../delivery/ledger.js'
import type { Sender } from '../delivery/sender.js'
import { ownListeners, Reporter } from '../diagnostics/reporter.js'
import { ledgerLine, printLine } from '../diagnostics/stderr.js'
import type { SluiceErrorCode } from '../errors/sluice-error.js'
import { textOf } from '../errors/text-of.js'
import { openSender } from '../http/auto-sender.js'
import { proxyFor } from '../http/proxy.js'
import { ThreadSender } from '../http/thread-sender.js'
import type { ResolvedOptions } from '../options/options.js'
import { ApiKey } from '../options/secret.js'
import { logHead, type MappedLog } from '../records/encode.js'
import { type Severity, valueSeverity } from '../records/level.js'
import type { WinstonLine } from '../records/winston-line.js'
import type { RecordKind } from '../records/wire.js'
import { queueMicrotask, systemClock } from '../runtime/clock.js'
import { userAgent } from '../runtime/version.js'
import { Spool } from '../spool/spool.js'
import { absolutePath } from '../spool/spool-folder.js'
import { SpooledSender } from '../spool/spooled-sender.js'
import type { EngineSetting } from './engine-setting.js'
import type { DrainOptions, EndStep, PinoLine, RecordPort } from './ports.js'
import { RecordWriter } from './record-writer.js'
import { type OnDisk, watchedClock, watchedStore } from './spool-watch.js'

/** The lanes of a configuration: one for each kind that has a bucket. */
export function lanesOf(options: ResolvedOptions, kinds: readonly RecordKind[] = ['logs', 'values']): LaneName[] {
  const buckets = { logs: options.logBucket, values: options.valueBucket }
  return kinds.flatMap((kind) => (buckets[kind] === undefined ? [] : [{ kind, bucket: buckets[kind] }]))
}

/** One delivery with its lanes, its sender and its voice, set up from the options. */
export class Engine implements RecordPort {
  readonly id = randomUUID()
  readonly lanes: readonly LaneName[]
  readonly position: SharedArrayBuffer | undefined
  readonly #reporter: Reporter
  readonly #handedOver: boolean
  readonly options: ResolvedOptions
  readonly #delivery: Delivery
  readonly #sender: Sender
  readonly #spool: Spool | undefined
  readonly #onDisk: OnDisk
  readonly #writer: RecordWriter
  readonly #apiKey: ApiKey
  readonly #proxyUrl: string | undefined
  readonly #logLane: number
  readonly #valueLane: number
  #closing: Promise<Ledger> | undefined

  constructor(options: ResolvedOptions, setting: EngineSetting = {}) {
    const { kinds, memory, handedOver = false, listeners, print, elsewhere, position } = setting
    const onDisk: OnDisk = (work) => (position === undefined ? work() : position.worker.onDisk(position.engine, work))
    this.#onDisk = onDisk
    this.position = position?.worker.memory
    this.options = options
    this.lanes = lanesOf(options, kinds)
    this.#handedOver = handedOver
    this.#apiKey = new ApiKey(options.apiKey, options.apiKeyFile)
    this.#logLane = this.lanes.findIndex(({ kind }) => kind === 'logs')
    this.#valueLane = this.lanes.findIndex(({ kind }) => kind === 'values')
    this.#writer = new RecordWriter(options)
    const clock = systemClock
    this.#reporter = new Reporter({
      clock,
      listeners: listeners ?? ownListeners(options.onError),
      print,
      elsewhere,
      warn: (message) => this.#warn(message),
    })
    this.#proxyUrl = this.#findProxy(options.url)
    const { url, maxConnections, maxBatch, requestTimeoutMs, maxQueueRecords, maxQueueBytes } = options
    this.#sender = openSender({
      url,
      apiKey: this.#apiKey,
      userAgent,
      maxConnections,
      maxBatch,
      pipelining: options.pipelining,
      proxyUrl: this.#proxyUrl,
      requestTimeoutMs,
      clock,
      left: (reason) => this.misused('SLUICE_PIPELINING', `requests are not pipelined any more: ${reason}`),
    })
    this.#spool = this.#makeSpool()
    this.#delivery = new Delivery({
      lanes: this.lanes,
      clock,
      random: Math.random,
      memory,
      observer: this.#reporter,
      limits: { maxQueueRecords, maxQueueBytes },
      maxConnections,
      maxBatch,
      requestTimeoutMs,
      retry: { baseMs: options.retryBaseMs, capMs: options.retryCapMs },
      probe: { baseMs: options.probeBaseMs, capMs: options.probeCapMs },
      keyPrefix: this.id,
      sender:
        this.#spool === undefined ? this.#sender : new SpooledSender(this.#sender, { commit: () => this.#commit() }),
      ...(this.#spool === undefined ? {} : { store: watchedStore(this.#spool, onDisk) }),
    })
    onDisk(() => this.#spool?.start(this.#delivery.buffer))
  }

  #makeSpool(): Spool | undefined {
    const { url, spoolDir, spoolMaxBytes, spoolMaxAgeHours, spoolSync } = this.options
    if (spoolDir === undefined) return undefined
    return new Spool({
      dir: absolutePath(spoolDir),
      url,
      lanes: this.lanes,
      maxBytes: spoolMaxBytes,
      maxAgeMs: spoolMaxAgeHours * hourMs,
      sync: spoolSync,
      clock: watchedClock(systemClock, this.#onDisk),
      defer: (task) => queueMicrotask(() => this.#onDisk(task)),
      wallClock: Date.now,
      random: Math.random,
      report: (text) => this.misused('SLUICE_SPOOL', text, text),
    })
  }

  get memory(): SharedArrayBuffer {
    return this.#delivery.book.memory
  }

  get closed(): boolean {
    return this.#closing !== undefined
  }

  log(mapped: MappedLog): void {
    this.#delivery.accept(this.#logLane, { body: this.#writer.log(mapped), severity: mapped.severity })
  }

  /** Accept a log record of which another thread has written the part that differs. */
  logHead(severity: Severity, head: string): void {
    const body = this.#writer.completeLog(head)
    this.#delivery.accept(this.#logLane, { body, severity, handedOver: this.#handedOver })
  }

  winstonLine(line: string, about: WinstonLine): void {
    this.#mapped(() => this.#writer.winstonLine(line, about))
  }

  pinoLine(line: string, about: PinoLine): void {
    this.#mapped(() => this.#writer.pinoLine(line, about))
  }

  value(eventId: number, milliseconds: number): void {
    const body = this.#writer.value(eventId, milliseconds)
    this.#delivery.accept(this.#valueLane, { body, severity: valueSeverity, handedOver: this.#handedOver })
  }

  unmapped(error: unknown): void {
    this.log(this.#unreadable(error))
  }

  /** A line that another thread has counted and that nothing can be made of: something must come of it. */
  unreadableLine(error: unknown): void {
    this.#mapped(() => {
      throw error
    })
  }

  #mapped(map: () => MappedLog): void {
    let mapped: MappedLog
    try {
      mapped = map()
    } catch (error) {
      // The line has been counted by another thread: something must come of it.
      mapped = this.#unreadable(error)
    }
    this.logHead(mapped.severity, logHead(mapped.fields))
  }

  #unreadable(error: unknown): MappedLog {
    this.misused('SLUICE_UNMAPPED', `a line could not be read: ${textOf(error)}`)
    return this.#writer.unreadable
  }

  refuse(kind: RecordKind): void {
    this.#delivery.refuse(kind === 'logs' ? this.#logLane : this.#valueLane)
  }

  misused(code: SluiceErrorCode, text: string, kind?: string): void {
    this.#reporter.misused(code, text, kind)
  }

  invalid(): void {
    this.#delivery.invalid()
  }

  #warn(message: string): void {
    if (this.#logLane !== -1) this.log(this.#writer.warning(message))
  }

  stats(): Ledger {
    return this.#delivery.stats()
  }

  /** True while a record of this size can be accepted without shedding another one. True after {@link close}, too. */
  hasRoom(bytes: number): boolean {
    return this.#delivery.hasRoom(bytes)
  }

  /** Resolves when {@link hasRoom} becomes true for a record of this size. */
  whenRoom(bytes: number): Promise<void> {
    return this.#delivery.whenRoom(bytes)
  }

  flush({ timeoutMs = this.options.shutdownTimeoutMs }: DrainOptions = {}): Promise<Ledger> {
    return this.#delivery.flush({ timeoutMs }).then((ledger) => {
      // A signal may end the process now.
      this.#onDisk(() => this.#spool?.acknowledge())
      return ledger
    })
  }

  /** Flush, and leave the rest to the spool, for a process that may be about to end. */
  park({ timeoutMs = this.options.shutdownTimeoutMs }: DrainOptions = {}): Promise<Ledger> {
    return this.flush({ timeoutMs: this.#beforeParking(timeoutMs) }).then(() => {
      if (this.#spool === undefined) return this.stats()
      const ledger = this.#delivery.park()
      this.#commit()
      return ledger
    })
  }

  close({ timeoutMs = this.options.shutdownTimeoutMs }: DrainOptions = {}): Promise<Ledger> {
    this.#closing ??= this.#delivery.close({ timeoutMs: this.#beforeParking(timeoutMs) }).then((ledger) => {
      this.#reporter.ended(ledger.lanes)
      if (this.options.debug) printLine(ledgerLine(ledger))
      return ledger
    })
    return this.#closing
  }

  /** What is left to the spool at a deadline must be there by then, and be counted. */
  #beforeParking(timeoutMs: number): number {
    return this.#spool === undefined ? timeoutMs : Math.max(timeoutMs * 0.75, timeoutMs - longestParkingMs)
  }

  #commit(): void {
    this.#onDisk(() => this.#spool?.commit())
  }

  #findProxy(url: string): string | undefined {
    const setting = proxyFor(url, process.env)
    if (setting.type === 'proxy') return setting.url
    if (setting.type === 'unusable') {
      this.misused('SLUICE_PROXY', `${setting.variable} is not the URL of an HTTP proxy: it is ignored`)
    }
    return undefined
  }

  ending(): void {
    this.#delivery.calm(endingMs)
  }

  beforeEnd(): boolean {
    return false
  }

  /** Another thread makes the requests, while this one waits; what is left then is on disk, where there is a spool. */
  endSync({ timeoutMs = this.options.shutdownTimeoutMs }: DrainOptions = {}): EndStep {
    const end = () => {
      this.#delivery.leave()
      return true
    }
    const deadline = systemClock.now() + timeoutMs
    const { queued, inFlight } = this.stats()
    if (queued + inFlight === 0 || timeoutMs === 0) return end
    // The connections of the thread take the place of these. It starts so slowly that the service has heard of their end by then.
    void this.#sender.close()
    const { url, maxConnections, requestTimeoutMs } = this.options
    const apiKey = this.#apiKey.reveal()
    const sender = ThreadSender.start(
      { url, apiKey, userAgent, maxConnections, requestTimeoutMs, proxyUrl: this.#proxyUrl },
      timeoutMs,
    )
    if (sender === undefined) return end
    this.#commit()
    const drain = this.#delivery.drainSync(sender, { timeoutMs: deadline - systemClock.now() })
    return (waitMs) => {
      if (!drain.step(waitMs)) return false
      sender.close()
      this.#reporter.ended([])
      return end()
    }
  }
}

const hourMs = 3_600_000
/** How long a process that is about to end keeps what comes, should it live on. */
const endingMs = 50
const longestParkingMs = 250
