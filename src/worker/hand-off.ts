import { randomUUID } from 'node:crypto'
import { queueMicrotask, systemClock } from '../delivery/clock.js'
import type { DropReason, LaneName, Ledger } from '../delivery/ledger.js'
import { SluiceError } from '../errors/sluice-error.js'
import { textOf } from '../errors/text-of.js'
import type { ResolvedOptions } from '../options/options.js'
import type { MappedLog } from '../records/encode.js'
import { type Severity, severityOfNumber } from '../records/level.js'
import type { WinstonLine } from '../records/plain-winston-line.js'
import { inUnit } from '../records/time.js'
import type { RecordKind } from '../records/wire.js'
import { type DrainRequest, DrainRequests } from './drain-requests.js'
import { Engine, lanesOf } from './engine.js'
import { deliverLine, drainFrame, isRecord, isValue } from './frames.js'
import { HandOffAccount } from './hand-off-account.js'
import { Outbox } from './outbox.js'
import type { WorkerMessage } from './protocol.js'
import type { DrainTime, EndStep, PinoLine, RecordPort } from './record-port.js'
import { type Listeners, ledgerLine, ownListeners, printLine, Telling } from './telling.js'
import { WorkerLink } from './worker-link.js'

/** How often a process that is about to end hands over, should it live on. */
const endingMs = 50
/** Workers that may die before delivery goes on in this thread. */
const maxWorkers = 2

/**
 * The application's side of the delivery worker: takes records, and hands them over when the code that logged has returned.
 *
 *     log() ─ text ──┐
 *     track() ─ ring ┴─ one write each time ─ thread-stream ─▶ delivery-worker.ts ─ engine
 *
 * What the worker has not taken is kept here, bounded by `maxQueueBytes`, beyond which records are counted as `hand-off-full`. A
 * worker that dies is started again once; after that delivery goes on in this thread.
 */
export class HandOff implements RecordPort {
  readonly id = randomUUID()
  readonly lanes: readonly LaneName[]
  readonly options: ResolvedOptions
  readonly #listeners: Listeners
  readonly #telling: Telling
  readonly #drains = new DrainRequests((request) => this.#ask(request))
  readonly #account: HandOffAccount
  #link: WorkerLink | undefined
  #inline: Engine | undefined
  #workers = 0
  readonly #outbox: Outbox
  #scheduled = false
  /** Made once: a closure in `#schedule` would take memory for each record, also when nothing is left to schedule. */
  readonly #scheduledHandOver = () => {
    this.#scheduled = false
    this.#handOver()
  }
  #closing: Promise<Ledger> | undefined
  /** Closed, with nothing left to wait for. */
  #settled = false
  /** The ledger of the worker when its thread had ended. */
  #final: Ledger | undefined
  #closedMemory: SharedArrayBuffer | undefined
  #ending = false

  constructor(options: ResolvedOptions) {
    this.options = options
    this.lanes = lanesOf(options)
    this.#account = new HandOffAccount(this.lanes, { spools: options.spoolDir !== undefined })
    this.#outbox = new Outbox({
      account: this.#account,
      maxBytes: options.maxQueueBytes,
      waitingBytes: () => this.#link!.waitingBytes,
      dropValue: () => this.#drop('values', 'hand-off-full'),
      send: (text, records) => this.#link?.write(text, records),
    })
    this.#listeners = ownListeners(options.onError)
    this.#telling = new Telling({ clock: systemClock, listeners: this.#listeners, warn: (text) => this.#warn(text) })
    this.#startWorker()
  }

  get memory(): SharedArrayBuffer {
    return this.#inline?.memory ?? this.#closedMemory ?? this.#link!.book.memory
  }

  get closed(): boolean {
    return this.#closing !== undefined
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
    this.#drop(kind, 'closed')
  }

  invalid(): void {
    this.#account.invalid++
  }

  misused(code: string, text: string, kind?: string): void {
    this.#telling.misused(code, text, kind)
  }

  stats(): Ledger {
    const engine = this.#final ?? this.#inline?.stats()
    return this.#account.complete(engine ?? this.#account.withOnTheWay(this.#link!.book, this.#outbox.values))
  }

  flush({ timeoutMs = this.options.shutdownTimeoutMs }: DrainTime = {}): Promise<Ledger> {
    return this.#drain('flush', timeoutMs)
  }

  park({ timeoutMs = this.options.shutdownTimeoutMs }: DrainTime = {}): Promise<Ledger> {
    return this.#drain('park', timeoutMs)
  }

  close({ timeoutMs = this.options.shutdownTimeoutMs }: DrainTime = {}): Promise<Ledger> {
    this.#closing ??= this.#close(timeoutMs)
    return this.#closing
  }

  ending(): void {
    this.#ending = true
  }

  beforeEnd(): boolean {
    if (this.#inline === undefined) void this.park()
    return this.#link?.handOverSync() ?? false
  }

  endSync({ timeoutMs = this.options.shutdownTimeoutMs }: DrainTime = {}): EndStep {
    // A close that is under way will not come to tell of it.
    if (this.#closing !== undefined && this.#link !== undefined) this.#telling.ended(this.#link.book.read().lanes)
    if (this.#settled) return () => true
    this.#handOver()
    if (this.#inline !== undefined) return this.#inline.endSync({ timeoutMs })
    const link = this.#link!
    const closed = link.endSync(timeoutMs)
    if (closed !== undefined) return closed
    void link.terminate()
    return this.#goInline('it does not answer at the end of the process').endSync({ timeoutMs })
  }

  async #close(timeoutMs: number): Promise<Ledger> {
    // Records that come from here on are refused: `closed` is true as soon as this has returned its promise.
    this.#handOver()
    await this.#drains.begin('close', timeoutMs)
    this.#settled = true
    await this.#link?.terminate()
    if (this.#inline === undefined) this.#final = this.#account.final(this.#link!.book)
    this.#forget()
    const ledger = this.stats()
    this.#telling.ended(this.#final?.lanes ?? [])
    if (this.options.debug) printLine(ledgerLine(ledger))
    return ledger
  }

  /** Let go of some megabytes: a closed engine is remembered for its figures. */
  #forget(): void {
    this.#closedMemory = this.#link?.book.memory
    this.#link = undefined
    this.#outbox.release()
  }

  #ask({ request, mode, timeoutMs }: DrainRequest): void {
    if (this.#inline === undefined) this.#link!.write(Buffer.from(drainFrame(mode, { request, timeoutMs })), 0)
    else void this.#inline[mode]({ timeoutMs }).then(() => this.#drains.answered(request))
  }

  #drain(mode: 'flush' | 'park', timeoutMs: number): Promise<Ledger> {
    this.#handOver()
    return this.#drains.begin(mode, timeoutMs).then(() => this.stats())
  }

  /** Take in a frame of a log record. */
  #append(text: string, severity: Severity): void {
    if (this.#closing !== undefined) {
      this.#drop('logs', 'closed')
      return
    }
    if (this.#outbox.append(text, severity)) this.#schedule()
    else this.#drop('logs', 'hand-off-full')
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    if (this.#ending) systemClock.schedule(this.#scheduledHandOver, endingMs)
    else queueMicrotask(this.#scheduledHandOver)
  }

  #handOver(): void {
    if (this.#inline === undefined && this.#link !== undefined) this.#outbox.handOver()
  }

  #startWorker(): void {
    this.#workers++
    this.#link = new WorkerLink({
      options: this.options,
      lanes: this.lanes,
      heard: (message) => this.#hear(message),
      failed: (reason) => this.#replace(reason),
    })
  }

  #hear(message: WorkerMessage): void {
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

  /** The worker is gone. What it had taken and not delivered is lost and counted; what it had not taken goes on. */
  #replace(reason: string): void {
    const gone = this.#link!
    if (this.#workers === maxWorkers || !this.#startsAgain()) this.#goInline(reason)
    else {
      const untaken = this.#leave(gone, { reason, next: 'starting it again' })
      this.#outbox.handOverAfter(untaken, (line) => this.#account.laneOf(isValue(line) ? 'values' : 'logs'))
    }
    this.#drains.askAgain()
  }

  /** Whether there is a new worker: its file may be gone by now. */
  #startsAgain(): boolean {
    try {
      this.#startWorker()
      return true
    } catch {
      return false
    }
  }

  /** Delivery goes on in this thread. */
  #goInline(reason: string): Engine {
    const untaken = this.#leave(this.#link!, { reason, next: 'delivery goes on in the application’s thread' })
    this.#link = undefined
    const engine = new Engine(this.options)
    this.#inline = engine
    const { styles } = this.#outbox.frames
    for (const line of [...untaken, ...this.#outbox.takeLines()]) if (isRecord(line)) deliverLine(engine, line, styles)
    this.#outbox.takeValues((eventId, milliseconds) => engine.value(eventId, milliseconds))
    return engine
  }

  /** The answer is what the worker has not taken. */
  #leave(link: WorkerLink, { reason, next }: { reason: string; next: string }): string[] {
    const untaken = link.untaken()
    const { queued, inFlight } = link.book.read()
    const lost = queued + inFlight
    const fate = this.options.spoolDir === undefined ? 'may be lost' : 'are left to the spool'
    const words = lost === 0 ? '' : `; ${lost} record${lost === 1 ? '' : 's'} that it had taken ${fate}`
    printLine(`the delivery worker has failed (${reason})${words}; ${next}`)
    this.#listeners.error(new SluiceError('SLUICE_WORKER_FAILED', reason + words))
    this.#account.workerDied(link.book)
    return untaken
  }

  #drop(kind: RecordKind, reason: DropReason): void {
    const index = this.#account.laneOf(kind)
    const lane = this.lanes[index]
    if (lane === undefined) return
    this.#account.drop(index, reason)
    this.#telling.dropped(lane, { reason, count: 1 })
  }

  #warn(message: string): void {
    if (this.#account.laneOf('logs') === -1) return
    const timeStamp = inUnit(Date.now(), this.options.timestampUnit)
    this.log({ fields: { timeStamp, level: 'warn', message }, severity: severityOfNumber(40) })
  }
}
