import { randomUUID } from 'node:crypto'
import type { DropReason, LaneName, Ledger } from '../delivery/ledger.js'
import { LedgerBook } from '../delivery/ledger-book.js'
import { type Listeners, ownListeners, Reporter } from '../diagnostics/reporter.js'
import { ledgerLine, printLine } from '../diagnostics/stderr.js'
import { Engine, lanesOf } from '../engine/engine.js'
import type { DrainOptions, EndStep, PinoLine, RecordPort } from '../engine/ports.js'
import { SluiceError, type SluiceErrorCode } from '../errors/sluice-error.js'
import { textOf } from '../errors/text-of.js'
import type { ResolvedOptions } from '../options/options.js'
import type { MappedLog } from '../records/encode.js'
import { type Severity, severityOfNumber } from '../records/level.js'
import { inUnit } from '../records/time.js'
import type { WinstonLine } from '../records/winston-line.js'
import type { RecordKind } from '../records/wire.js'
import { type Clock, queueMicrotask, systemClock } from '../runtime/clock.js'
import { GivenUp, HandOffAccount } from './account.js'
import type { DeliveryThread, EngineClient, FailedWorker, LostRecords } from './delivery-thread.js'
import { type DrainRequest, DrainRequests } from './drain-requests.js'
import { deliverLine, drainFrame, isRecord, isValue, lineEnd } from './frames.js'
import { InTransit } from './in-transit.js'
import { HandOffModes } from './modes.js'
import { Outbox } from './outbox.js'
import { type EnginePlan, enginePlan, engineStates, type WorkerMessage } from './protocol.js'

export interface HandOffSetting {
  readonly thread: DeliveryThread
  /** @default the machine's */
  readonly clock?: Clock
  /** Writes one line for people. @default to stderr */
  readonly print?: (text: string) => void
}

/** How often a process that is about to end hands over, should it live on. */
const endingMs = 50
/** A worker that closes its engine keeps the deadline itself; after this much more it is given up. */
const graceMs = 500

/**
 * The application's side of one engine in the delivery worker: takes records, and hands them over when the code that logged has returned.
 *
 *     log() ─ text ──┐
 *     track() ─ ring ┴─ outbox ─ one write each time ─ on the way ─ delivery thread ─▶ engine
 *
 * Lines that no worker has taken are kept here, bounded by `maxQueueBytes`, and go to the next worker when one fails. The ledger is one
 * piece of shared memory for all of them. Nothing here throws or rejects, in any mode.
 */
export class HandOff implements RecordPort, EngineClient {
  readonly id = randomUUID()
  readonly lanes: readonly LaneName[]
  readonly options: ResolvedOptions
  readonly #thread: DeliveryThread
  readonly #clock: Clock
  readonly #book: LedgerBook
  readonly #listeners: Listeners
  readonly #reporter: Reporter
  readonly #drains: DrainRequests
  readonly #account: HandOffAccount
  readonly #givenUp: GivenUp
  readonly #outbox: Outbox
  readonly #inTransit = new InTransit()
  readonly #state = new SharedArrayBuffer(4)
  /** Names this engine to the worker. */
  readonly #number: number
  readonly #mode = new HandOffModes()
  #inline: Engine | undefined
  #closing: Promise<Ledger> | undefined
  #scheduled = false
  #ending = false
  /** Made once: a closure in `#schedule` would take memory for each record, also when nothing is left to schedule. */
  readonly #scheduledHandOver = () => {
    this.#scheduled = false
    this.#handOver()
  }

  constructor(options: ResolvedOptions, { thread, clock = systemClock, print }: HandOffSetting) {
    this.options = options
    this.lanes = lanesOf(options)
    this.#thread = thread
    this.#clock = clock
    this.#book = new LedgerBook(this.lanes)
    this.#account = new HandOffAccount(this.lanes, { book: this.#book, spools: this.#spools })
    this.#drains = new DrainRequests({ clock, ask: (request) => this.#ask(request) })
    this.#outbox = new Outbox({
      account: this.#account,
      maxBytes: options.maxQueueBytes,
      waitingBytes: () => this.#waitingBytes,
      dropValue: () => this.#givenUp.drop('values', this.#fullReason),
      send: (text, records) => this.#send(text, records),
    })
    this.#listeners = ownListeners(options.onError)
    this.#reporter = new Reporter({ clock, listeners: this.#listeners, print, warn: (text) => this.#warn(text) })
    this.#givenUp = new GivenUp({
      lanes: this.lanes,
      account: this.#account,
      reporter: this.#reporter,
      spools: this.#spools,
    })
    this.#number = thread.join(this)
    thread.connect(this.#number)
  }

  get memory(): SharedArrayBuffer {
    return this.#book.memory
  }

  get closed(): boolean {
    return this.#closing !== undefined
  }

  /** True while the worker has anything to do for this engine. */
  get unsettled(): boolean {
    return this.#book.unsettled > 0 || this.#waitingBytes > 0
  }

  log(mapped: MappedLog): void {
    if (this.#inline !== undefined) this.#inline.log(mapped)
    else this.#append(this.#outbox.frames.log(mapped), mapped.severity)
  }

  winstonLine(line: string, about: WinstonLine): void {
    if (this.#inline !== undefined) this.#inline.winstonLine(line, about)
    else this.#append(this.#outbox.frames.winston(line, about), about.severity)
  }

  pinoLine(line: string, about: PinoLine): void {
    if (this.#inline !== undefined) this.#inline.pinoLine(line, about)
    else this.#append(this.#outbox.frames.pino(line, about), about.severity)
  }

  value(eventId: number, milliseconds: number): void {
    if (this.#inline !== undefined) this.#inline.value(eventId, milliseconds)
    else if (this.#closing !== undefined) this.refuse('values')
    else {
      this.#outbox.value(eventId, milliseconds)
      this.#schedule()
    }
  }

  unmapped(error: unknown): void {
    this.misused('SLUICE_UNMAPPED', `a line could not be read: ${textOf(error)}`)
    this.#warn('sluice: a line could not be read')
  }

  refuse(kind: RecordKind): void {
    this.#givenUp.drop(kind, 'closed')
  }

  invalid(): void {
    this.#account.invalid++
  }

  misused(code: SluiceErrorCode, text: string, kind?: string): void {
    this.#reporter.misused(code, text, kind)
  }

  stats(): Ledger {
    return this.#mode.now === 'closed' ? this.#account.closed() : this.#account.ledger(this.#outbox.values)
  }

  flush({ timeoutMs = this.options.shutdownTimeoutMs }: DrainOptions = {}): Promise<Ledger> {
    return this.#drain('flush', timeoutMs)
  }

  park({ timeoutMs = this.options.shutdownTimeoutMs }: DrainOptions = {}): Promise<Ledger> {
    return this.#drain('park', timeoutMs)
  }

  close({ timeoutMs = this.options.shutdownTimeoutMs }: DrainOptions = {}): Promise<Ledger> {
    this.#closing ??= this.#close(timeoutMs)
    return this.#closing
  }

  ending(): void {
    this.#ending = true
  }

  beforeEnd(): boolean {
    if (this.#mode.now !== 'connected') return false
    void this.park()
    return this.#thread.handOverSync()
  }

  endSync({ timeoutMs = this.options.shutdownTimeoutMs }: DrainOptions = {}): EndStep {
    // A close that is under way will not come to tell of it.
    if (this.#closing !== undefined && this.#inline === undefined) this.#reporter.ended(this.#book.read().lanes)
    if (this.#mode.now === 'closed') return () => true
    this.#handOver()
    const reached = this.#inline === undefined && this.#thread.reachSync(timeoutMs)
    if (this.#inline !== undefined) return this.#inline.endSync({ timeoutMs })
    return reached ? this.#endInWorker(timeoutMs) : () => true
  }

  /** A worker takes lines from now on: before all else those that the last one has not taken. */
  attached(): void {
    if (!this.#mode.turn('connected')) return
    const styles = this.#outbox.frames.allStyles()
    if (styles !== '') this.#write(Buffer.from(styles))
    for (const piece of this.#inTransit.pieces) this.#write(piece)
    this.#handOver()
    this.#drains.askAgain()
  }

  detached(): void {
    this.#mode.turn('waiting')
  }

  /** The worker is gone. All that it had taken and not delivered is lost and counted, unless it is on disk; all else goes to the next. */
  workerFailed({ reason, at }: FailedWorker): LostRecords {
    this.#inTransit.trim(this.#book.taken)
    const line = at === 'line' ? this.#inTransit.giveUpFirst() : undefined
    if (line !== undefined) this.#givenUp.unreadable(isValue(line) ? 'values' : 'logs')
    this.#listeners.error(new SluiceError('SLUICE_WORKER_FAILED', reason))
    return this.#givenUp.withWorker(this.#book)
  }

  /** No worker can be started: delivery goes on in this thread. No worker has ever seen these lines. */
  cannotStart(): void {
    if (!this.#mode.turn('inline')) return
    const engine = new Engine(this.options, { memory: this.memory })
    this.#handOver()
    this.#account.directly()
    const { styles } = this.#outbox.frames
    for (const piece of this.#inTransit.pieces) {
      for (const line of piece.toString().split(lineEnd)) if (isRecord(line)) deliverLine(engine, line, styles)
    }
    this.#inTransit.clear()
    this.#inline = engine
    this.#drains.askAgain()
  }

  received(message: WorkerMessage): void {
    switch (message.type) {
      case 'drained':
        this.#drains.answered(message.request)
        return
      case 'channel':
        this.#listeners.channel(message.name, message.message)
        return
      case 'error':
        this.#listeners.error(new SluiceError(message.code, message.text))
    }
  }

  plan({ diskIsStalled }: { diskIsStalled: boolean }): EnginePlan {
    return enginePlan(this.options, { memory: this.memory, state: this.#state, diskIsStalled })
  }

  async #close(timeoutMs: number): Promise<Ledger> {
    // Records that come from here on are refused: `closed` is true as soon as this has returned its promise.
    this.#handOver()
    await this.#drains.begin('close', timeoutMs)
    this.#mode.turn('closed')
    this.#drains.askAgain()
    await this.#thread.leave(this.#number)
    this.#inTransit.clear()
    this.#outbox.release()
    const ledger = this.stats()
    this.#reporter.ended(this.#inline === undefined ? ledger.lanes : [])
    if (this.options.debug) printLine(ledgerLine(ledger))
    return ledger
  }

  #endInWorker(timeoutMs: number): EndStep {
    this.#write(Buffer.from(drainFrame('close', { request: 0, timeoutMs })))
    if (!this.#thread.handOverSync()) return () => true
    const word = new Int32Array(this.#state)
    const deadline = this.#clock.now() + timeoutMs + graceMs
    return (waitMs) => {
      const left = deadline - this.#clock.now()
      if (left > 0) Atomics.wait(word, 0, engineStates.open, Math.min(left, waitMs))
      return left <= 0 || Atomics.load(word, 0) === engineStates.closed
    }
  }

  #ask({ request, mode, timeoutMs }: DrainRequest): void {
    switch (this.#mode.now) {
      case 'connected':
        this.#write(Buffer.from(drainFrame(mode, { request, timeoutMs })))
        return
      case 'waiting':
        // It is asked again when there is a worker.
        if (this.unsettled) this.#thread.hurry()
        else this.#drains.answered(request)
        return
      case 'inline':
        void this.#inline?.[mode]({ timeoutMs }).then(() => this.#drains.answered(request))
        return
      case 'closed':
        this.#drains.answered(request)
    }
  }

  #drain(mode: 'flush' | 'park', timeoutMs: number): Promise<Ledger> {
    this.#handOver()
    return this.#drains.begin(mode, timeoutMs).then(() => this.stats())
  }

  /** Take in a frame of a log record. */
  #append(text: string, severity: Severity): void {
    if (this.#closing !== undefined) {
      this.#givenUp.drop('logs', 'closed')
      return
    }
    if (this.#outbox.append(text, severity)) this.#schedule()
    else this.#givenUp.drop('logs', this.#fullReason)
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    if (this.#ending) this.#clock.schedule(this.#scheduledHandOver, endingMs)
    else queueMicrotask(this.#scheduledHandOver)
  }

  #handOver(): void {
    if (this.#mode.now !== 'closed') this.#outbox.handOver()
  }

  #send(text: Buffer, records: number): void {
    this.#inTransit.add(text, records)
    if (this.#mode.now === 'connected') this.#write(text)
  }

  #write(lines: Buffer): void {
    this.#thread.write(this.#number, lines)
  }

  get #waitingBytes(): number {
    this.#inTransit.forget(this.#book.taken)
    return this.#inTransit.bytes
  }

  get #spools(): boolean {
    return this.options.spoolDir !== undefined
  }

  get #fullReason(): DropReason {
    return this.#mode.now === 'waiting' ? 'worker-failed' : 'hand-off-full'
  }

  #warn(message: string): void {
    if (this.#account.laneOf('logs') === -1) return
    const timeStamp = inUnit(Date.now(), this.options.timestampUnit)
    this.log({ fields: { timeStamp, level: 'warn', message }, severity: severityOfNumber(40) })
  }
}
