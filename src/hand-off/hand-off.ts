import { randomUUID } from 'node:crypto'
import { ControlBlock } from '../control/control-block.js'
import type { LaneName, Ledger } from '../delivery/ledger.js'
import { LedgerBook } from '../delivery/ledger-book.js'
import { type Listeners, ownListeners, Reporter } from '../diagnostics/reporter.js'
import { ledgerLine, printLine } from '../diagnostics/stderr.js'
import { Engine } from '../engine/engine.js'
import { lanesOf } from '../engine/engine-setting.js'
import { type Machine, thisMachine } from '../engine/machine.js'
import { nothingListens } from '../engine/nothing-listens.js'
import type {
  AcceptanceWatch,
  EndOptions,
  EndStep,
  FlushOptions,
  KeyedValue,
  PinoLine,
  RecordPort,
} from '../engine/ports.js'
import { warning } from '../engine/record-writer.js'
import { SluiceError, type SluiceErrorCode } from '../errors/sluice-error.js'
import { textOf } from '../errors/text-of.js'
import type { ResolvedOptions } from '../options/options.js'
import type { MappedLog } from '../records/encode.js'
import type { Severity } from '../records/level.js'
import type { WinstonLine } from '../records/winston-line.js'
import type { RecordKind } from '../records/wire.js'
import { HandOffAccount } from './account.js'
import type { DeliveryThread, EngineClient, FailedWorker, LostRecords } from './delivery-thread.js'
import { type DrainRequest, DrainRequests, type DrainTime, endGraceMs, timeLeft, timeOf } from './drain-requests.js'
import { deliverLine, drainFrame, isValue, keyedFrame } from './frames.js'
import { nextModes } from './hand-off-mode.js'
import { InTransit } from './in-transit.js'
import { ModeMachine } from './mode-machine.js'
import type { News } from './news.js'
import { Outbox } from './outbox.js'
import { ClosedFlag, type EnginePlan, enginePlan, type WorkerMessage } from './protocol.js'

export interface HandOffSetting extends AcceptanceWatch {
  readonly thread: DeliveryThread
  /** @default this one */
  readonly machine?: Machine
  /** Writes one line for people. @default to stderr */
  readonly print?: (text: string) => void
}

/**
 * The application's side of one engine in the delivery worker. It hands records over in the microtask after the code that logged them.
 *
 *     log() ─── text ──┐
 *     track() ─ ring ──┴─ Outbox ─ InTransit ─ DeliveryThread ─▶ Engine in the worker
 *
 * `InTransit` keeps the lines that no worker has taken: when a worker fails, the next one gets them. `maxQueueBytes` bounds them. The
 * ledger is one piece of shared memory for all workers of this engine.
 *
 * No method throws or rejects, in any mode.
 */
export class HandOff implements RecordPort, EngineClient {
  readonly id = randomUUID()
  readonly lanes: readonly LaneName[]
  readonly options: ResolvedOptions
  readonly memory: SharedArrayBuffer
  readonly #thread: DeliveryThread
  /** For an engine in this thread. */
  readonly #local: AcceptanceWatch & { readonly machine: Machine }
  readonly #book: LedgerBook
  readonly #listeners: Listeners
  readonly #reporter: Reporter
  readonly #drains: DrainRequests
  readonly #account: HandOffAccount
  readonly #outbox: Outbox
  readonly #inTransit: InTransit
  readonly #closedFlag = new ClosedFlag()
  /** The number of this engine in the worker. */
  readonly #number: number
  readonly #mode = new ModeMachine('waiting', nextModes)
  /** Set in the mode `inline`, and after it. */
  #inline: Engine | undefined
  #closing: Promise<Ledger> | undefined
  #isEndReported = false

  constructor(options: ResolvedOptions, { thread, machine = thisMachine, print, accepted }: HandOffSetting) {
    this.options = options
    this.lanes = lanesOf(options)
    this.#thread = thread
    this.#local = { machine, accepted }
    this.#book = new LedgerBook(this.lanes)
    this.memory = this.#book.memory
    this.#inTransit = new InTransit(this.#book)
    this.#listeners = ownListeners(options.onError)
    const end = new ControlBlock(this.memory)
    const nowhere = nothingListens(options)
    this.#reporter = new Reporter({ clock: machine.clock, listeners: this.#listeners, print, nowhere, end })
    const spools = options.spoolDir !== undefined
    this.#account = new HandOffAccount({ lanes: this.lanes, book: this.#book, reporter: this.#reporter, spools })
    this.#drains = new DrainRequests({ clock: machine.clock, ask: (request) => this.#ask(request) })
    this.#outbox = new Outbox({
      clock: machine.clock,
      account: this.#account,
      maxBytes: options.maxQueueBytes,
      inTransit: () => this.#inTransit.bytes,
      fullReason: () => (this.#mode.now === 'waiting' ? 'worker-failed' : 'hand-off-full'),
      send: (text, records) => this.#send(text, records),
      accepted,
    })
    this.#number = thread.join(this)
    thread.connect(this.#number)
  }

  get closed(): boolean {
    return this.#closing !== undefined
  }

  get busy(): boolean {
    return this.#book.remaining > 0 || this.#inTransit.bytes > 0
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
    else this.#outbox.value(eventId, milliseconds)
  }

  keyedValue(value: KeyedValue): void {
    if (this.#inline !== undefined) this.#inline.keyedValue(value)
    else if (this.#closing !== undefined) this.refuse('values')
    else this.#outbox.keyedValue(keyedFrame(value))
  }

  unmapped(error: unknown): void {
    this.misused('SLUICE_UNMAPPED', `a line could not be read: ${textOf(error)}`)
    if (this.#account.laneOf('logs') !== -1) this.log(warning('sluice: a line could not be read', this.options))
  }

  refuse(kind: RecordKind): void {
    this.#account.drop(kind, 'closed')
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

  flush(options?: FlushOptions): Promise<Ledger> {
    return this.#drain('flush', options)
  }

  park(options?: EndOptions): Promise<Ledger> {
    return this.#drain('park', options).finally(() => this.#tellAll())
  }

  close(options?: EndOptions): Promise<Ledger> {
    this.#closing ??= this.#close(timeOf(options, this.options))
    return this.#closing
  }

  ending(): void {
    this.#outbox.ending()
  }

  deliversElsewhere(withinMs: number): boolean {
    return this.#mode.now === 'connected' && !this.#drains.areOpen && this.#thread.startsSync(withinMs)
  }

  beforeEnd(withinMs = this.options.shutdownTimeoutMs): boolean {
    if (this.#mode.now !== 'connected') return false
    void this.park()
    return this.#thread.handOverSync(withinMs)
  }

  endSync(options?: EndOptions): EndStep {
    const { timeoutMs, brief } = timeOf(options, this.options)
    const leftMs = timeLeft(this.#local.machine.clock, timeoutMs)
    if (this.#closing !== undefined) this.#reportEnd()
    if (this.#mode.now === 'closed') return () => true
    this.#outbox.handOver()
    const reached = this.#inline === undefined && this.#thread.reachSync(timeoutMs + endGraceMs)
    this.#tellAll()
    if (this.#inline !== undefined) return this.#inline.endSync({ timeoutMs: leftMs(), brief })
    if (!reached) return () => true
    this.#write(Buffer.from(drainFrame('close', { request: 0, timeoutMs: leftMs(), brief })))
    if (!this.#thread.handOverSync(leftMs() + endGraceMs)) return () => true
    const isOver = this.#closedFlag.wait(this.#local.machine.clock, leftMs())
    return (waitMs) => {
      if (!isOver(waitMs)) return false
      this.#thread.catchUp()
      this.#tellAll()
      return true
    }
  }

  attached(): void {
    if (!this.#mode.enter('connected')) return
    const styles = this.#outbox.frames.allStyles()
    if (styles !== '') this.#write(Buffer.from(styles))
    // The lines that the last worker has not taken come before newer ones.
    for (const piece of this.#inTransit.pieces) this.#write(piece)
    this.#drains.askAgain()
  }

  detached(): void {
    this.#mode.enter('waiting')
  }

  workerFailed({ reason, at }: FailedWorker): LostRecords {
    this.#account.tellDrops()
    this.#inTransit.trim()
    const line = at === 'line' ? this.#inTransit.removeFirst() : undefined
    if (line !== undefined) this.#account.dropUnreadable(isValue(line) ? 'values' : 'logs')
    this.#listeners.error(new SluiceError('SLUICE_WORKER_FAILED', reason))
    return this.#account.dropWithWorker()
  }

  cannotStart(): void {
    if (!this.#mode.enter('inline')) return
    this.#account.tellDrops()
    const engine = new Engine(this.options, { memory: this.memory, ...this.#local })
    this.#outbox.handOver()
    this.#account.deliverDirectly()
    for (const line of this.#inTransit.removeAll()) deliverLine(engine, line, this.#outbox.frames.styles)
    this.#inline = engine
    this.#drains.askAgain()
  }

  received(message: WorkerMessage): void {
    if (message.type === 'drained') this.#drains.answered(message.request)
    else this.#heard(message.news)
  }

  #heard(news: News): void {
    const reporter = this.#reporter
    if (news.type === 'dropped') this.#tellDrops()
    else if (news.type === 'rejected') reporter.rejected(news.lane, news.about)
    else if (news.type === 'paused') reporter.paused(news.lane, news.about)
    else if (news.type === 'outage') reporter.outage(news.lane, news.about)
    else if (news.type === 'resumed') reporter.resumed(news.lane)
    else if (news.type === 'misused') reporter.misused(news.code, news.text, news.kind)
    else reporter.unreachable()
  }

  plan({ diskIsStalled }: { diskIsStalled: boolean }): EnginePlan {
    return enginePlan(this.options, { memory: this.memory, closed: this.#closedFlag.memory, diskIsStalled })
  }

  async #close(time: DrainTime): Promise<Ledger> {
    // Later records are refused: `closed` is true as soon as this method has returned its promise.
    this.#outbox.handOver()
    await this.#drains.begin('close', time)
    this.#mode.enter('closed')
    this.#drains.askAgain()
    await this.#thread.leave(this.#number)
    this.#inTransit.clear()
    this.#outbox.release()
    this.#reportEnd()
    const ledger = this.stats()
    if (this.options.debug) printLine(ledgerLine(ledger))
    return ledger
  }

  /** Report once what the close has dropped so far: at the exit it resolves no more. An engine in this thread reports that itself. */
  #reportEnd(): void {
    if (this.#isEndReported) return
    this.#isEndReported = true
    this.#tellAll()
    this.#reporter.ended(this.#inline === undefined ? this.stats().lanes : [])
  }

  #tellAll(): void {
    this.#tellDrops()
    this.#reporter.tellAll()
  }

  /** An engine in this thread reports its drops itself. */
  #tellDrops(): void {
    if (this.#inline === undefined) this.#account.tellDrops()
  }

  #drain(mode: 'flush' | 'park', options: FlushOptions | undefined): Promise<Ledger> {
    this.#outbox.handOver()
    return this.#drains.begin(mode, timeOf(options, this.options)).then(() => this.stats())
  }

  #ask({ request, mode: drain, ...time }: DrainRequest): void {
    const mode = this.#mode.now
    const answered = () => this.#drains.answered(request)
    if (mode === 'connected') this.#write(Buffer.from(drainFrame(drain, { request, ...time })))
    else if (mode === 'inline') void this.#inline?.[drain](time).then(answered)
    // The next worker gets the request again.
    else if (mode === 'waiting' && this.busy) this.#thread.hurry()
    else answered()
  }

  /** Take the frame of a log record. */
  #append(text: string, severity: Severity): void {
    if (this.#closing !== undefined) this.refuse('logs')
    else this.#outbox.append(text, severity)
  }

  #send(text: Buffer, records: number): void {
    if (this.#mode.now === 'closed') return
    this.#inTransit.add(text, records)
    if (this.#mode.now === 'connected') this.#write(text)
  }

  #write(lines: Buffer): void {
    this.#thread.write(this.#number, lines)
  }
}
