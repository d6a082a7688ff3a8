import { randomUUID } from 'node:crypto'
import { ControlBlock, type DrainMode } from '../control/control-block.js'
import { maxBatch } from '../delivery/batch.js'
import type { LaneName, Ledger } from '../delivery/ledger.js'
import { LedgerBook } from '../delivery/ledger-book.js'
import type { FlushTime } from '../delivery/plan.js'
import { type Listeners, ownListeners, Reporter } from '../diagnostics/reporter.js'
import { ledgerLine, printLine } from '../diagnostics/stderr.js'
import { Engine } from '../engine/engine.js'
import { lanesOf } from '../engine/engine-setting.js'
import { type Machine, thisMachine } from '../engine/machine.js'
import { nothingListens } from '../engine/nothing-listens.js'
import {
  type AcceptanceWatch,
  type EndOptions,
  type EndStep,
  type FlushOptions,
  type KeyedValue,
  type Line,
  type LineSink,
  type RecordPort,
  timeOf,
} from '../engine/ports.js'
import { unreadableText } from '../engine/record-writer.js'
import { SluiceError, type SluiceErrorCode } from '../errors/sluice-error.js'
import { textOf } from '../errors/text-of.js'
import type { ResolvedOptions } from '../options/options.js'
import { PipeMemory } from '../pipe/pipe-memory.js'
import { type LineStyle, sharedStyle } from '../records/line-style.js'
import type { RecordKind } from '../records/wire.js'
import { HandOffAccount } from './account.js'
import type { DeliveryThread, EngineClient, FailedWorker, LostRecords } from './delivery-thread.js'
import { endGraceMs, timeLeft } from './drain-times.js'
import { EngineDrains } from './engine-drains.js'
import { EngineSink } from './frame-sink.js'
import { nextModes } from './hand-off-mode.js'
import { ModeMachine } from './mode-machine.js'
import { report } from './news.js'
import { Outgoing, refusal } from './outgoing.js'
import { type EnginePlan, enginePlan, type WorkerMessage } from './protocol.js'

export interface HandOffSetting extends AcceptanceWatch {
  readonly thread: DeliveryThread
  /** @default this one */
  readonly machine?: Machine
  /** Writes one line for people. @default to stderr */
  readonly print?: (text: string) => void
  /** Bytes of the pipe's ring. @default 64 KiB */
  readonly pipeBytes?: number
}

/** This much may wait in the pipe without a ring: as many records as fill a batch, and half of the pipe. */
const mostQuiet = { records: maxBatch, bytes: 32_768 } as const

/**
 * The application's side of one engine in the delivery worker.
 *
 *     log() track() ─ Outgoing ══ pipe ══▶ Engine in the worker
 *
 * What no worker has taken stays in the pipe: when a worker fails, the next one goes on there. `maxQueueBytes` bounds it. The ledger is one
 * piece of shared memory for all workers of this engine.
 *
 * No method throws or rejects, in any mode.
 */
export class HandOff implements RecordPort, EngineClient {
  readonly id = randomUUID()
  readonly lanes: readonly LaneName[]
  readonly options: ResolvedOptions
  readonly memory: SharedArrayBuffer
  readonly #thread: DeliveryThread
  readonly #machine: Machine
  readonly #accepted: AcceptanceWatch['accepted']
  readonly #book: LedgerBook
  readonly #listeners: Listeners
  readonly #reporter: Reporter
  readonly #account: HandOffAccount
  readonly #pipeMemory: SharedArrayBuffer
  readonly #outgoing: Outgoing
  readonly #drains: EngineDrains
  /** Takes the records: the way to the worker, an engine in this thread, or, after the close, nothing. */
  #sink: LineSink
  /** The number of this engine in the worker. */
  readonly #number: number
  readonly #mode = new ModeMachine('waiting', nextModes)
  /** Set in the mode `inline`, and after it. */
  #inline: Engine | undefined
  #closing: Promise<Ledger> | undefined
  #isEndReported = false

  constructor(options: ResolvedOptions, { thread, machine = thisMachine, print, accepted, pipeBytes }: HandOffSetting) {
    const { clock } = machine
    this.options = options
    this.lanes = lanesOf(options)
    this.#thread = thread
    this.#machine = machine
    this.#accepted = accepted
    this.#book = new LedgerBook(this.lanes)
    this.memory = this.#book.memory
    this.#listeners = ownListeners(options.onError)
    const end = new ControlBlock(this.memory)
    const nowhere = nothingListens(options)
    this.#reporter = new Reporter({ clock, listeners: this.#listeners, print, nowhere, end })
    const spools = options.spoolDir !== undefined
    this.#account = new HandOffAccount({ lanes: this.lanes, book: this.#book, reporter: this.#reporter, spools })
    this.#pipeMemory = PipeMemory.create(pipeBytes)
    this.#drains = new EngineDrains(machine)
    this.#outgoing = new Outgoing({
      clock,
      account: this.#account,
      pipe: PipeMemory.open(this.#pipeMemory, machine.bell)!,
      maxBytes: options.maxQueueBytes,
      mostQuiet: {
        records: Math.min(mostQuiet.records, options.maxQueueRecords / 4),
        bytes: Math.min(mostQuiet.bytes, options.maxQueueBytes / 8),
      },
      untaken: () => this.#account.written - this.#book.taken,
      fullReason: () => (this.#mode.now === 'waiting' ? 'worker-failed' : 'hand-off-full'),
      handedOver: () => thread.watch(),
      accepted,
    })
    this.#sink = this.#outgoing
    this.#number = thread.join(this)
    thread.connect(this.#number)
  }

  get closed(): boolean {
    return this.#closing !== undefined
  }

  get busy(): boolean {
    return this.#book.remaining > 0 || this.#account.written > this.#book.taken
  }

  get taking(): number | undefined {
    return this.#outgoing.taking
  }

  line(text: string, line: Line): void {
    this.#sink.line(text, line)
  }

  value(eventId: number, milliseconds: number): void {
    this.#sink.value(eventId, milliseconds)
  }

  keyedValue(value: KeyedValue): void {
    this.#sink.keyedValue(value)
  }

  unmapped(error: unknown): void {
    this.misused('SLUICE_UNMAPPED', `a line could not be read: ${textOf(error)}`)
    if (this.#account.laneOf('logs') === -1) return
    this.line(unreadableText, {
      style: sharedStyle({ logger: 'winston', level: 'warn' }),
      severity: 3,
      arrivedAt: Date.now(),
    })
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
    return this.#mode.now === 'closed' ? this.#account.closed() : this.#account.ledger()
  }

  flush(options?: FlushOptions): Promise<Ledger> {
    return this.#drain('flush', timeOf(options, this.options)).then(() => this.stats())
  }

  park(options?: EndOptions): Promise<Ledger> {
    return this.#drain('park', timeOf(options, this.options)).then(() => {
      this.#tellAll()
      return this.stats()
    })
  }

  close(options?: EndOptions): Promise<Ledger> {
    this.#closing ??= this.#close(timeOf(options, this.options))
    if (this.#inline === undefined) this.#sink = refusal((kind) => this.refuse(kind))
    return this.#closing
  }

  ending(): void {
    this.#outgoing.ending()
  }

  deliversElsewhere(withinMs: number): boolean {
    return this.#mode.now === 'connected' && !this.#drains.areOpen && this.#thread.startsSync(withinMs)
  }

  beforeEnd(withinMs = this.options.shutdownTimeoutMs): boolean {
    if (this.#mode.now !== 'connected') return false
    const leftMs = timeLeft(this.#machine.clock, withinMs)
    void this.park()
    return this.#thread.answersSync(withinMs) && this.#outgoing.push(leftMs())
  }

  endSync(options?: EndOptions): EndStep {
    const { timeoutMs, brief } = timeOf(options, this.options)
    const leftMs = timeLeft(this.#machine.clock, timeoutMs)
    if (this.#closing !== undefined) this.#reportEnd()
    if (this.#mode.now === 'closed') return () => true
    this.#outgoing.handOver()
    const reached = this.#inline === undefined && this.#thread.reachSync(timeoutMs + endGraceMs)
    this.#tellAll()
    if (this.#inline !== undefined) return this.#inline.endSync({ timeoutMs: leftMs(), brief })
    if (!reached) return () => true
    // The worker knows the deadline before its records have room in the pipe, and several engines hand theirs over in turns.
    const step = this.#drains.closeSync({ timeoutMs: leftMs(), brief }, this.#account.written)
    let isHandedOver = false
    return (waitMs) => {
      isHandedOver ||= this.#outgoing.push(waitMs)
      if (!step(isHandedOver ? waitMs : 0)) return false
      this.#thread.catchUp()
      this.#tellAll()
      return true
    }
  }

  attached(): void {
    this.#mode.enter('connected')
  }

  detached(): void {
    this.#mode.enter('waiting')
  }

  workerFailed({ reason }: FailedWorker): LostRecords {
    this.#listeners.error(new SluiceError('SLUICE_WORKER_FAILED', reason))
    const lost = this.#account.dropWithWorker()
    const kind = this.#outgoing.giveUpLine({ taken: () => this.#book.taken })
    if (kind !== undefined) this.#account.dropUnreadable(kind)
    this.#account.tellDrops()
    return { ...lost, unreadable: kind === undefined ? 0 : 1 }
  }

  cannotStart(): void {
    if (!this.#mode.enter('inline')) return
    this.#account.tellDrops()
    const engine = new Engine(this.options, {
      machine: this.#machine,
      memory: this.memory,
      accepted: this.#accepted,
    })
    const styles = this.#outgoing.styles.map((text) => JSON.parse(text) as LineStyle)
    this.#outgoing.takeAll(new EngineSink({ engine, book: this.#book, styles }))
    this.#account.deliverDirectly()
    this.#inline = engine
    this.#sink = engine
    this.#drains.makeIn(engine)
    // The worker may have answered the close: then nobody asks for it.
    if (this.closed) void engine.close({ timeoutMs: 0 })
  }

  received({ news }: WorkerMessage): void {
    if (news.type === 'dropped') this.#tellDrops()
    else report(this.#reporter, news)
  }

  plan({ diskIsStalled }: { diskIsStalled: boolean }): EnginePlan {
    const { styles } = this.#outgoing
    const memory = { memory: this.memory, pipe: this.#pipeMemory, drains: this.#drains.memory }
    return enginePlan(this.options, { ...memory, styles, diskIsStalled })
  }

  async #close(time: FlushTime): Promise<Ledger> {
    // Later records are refused: `closed` is true as soon as this method has returned its promise.
    await this.#drain('close', time)
    this.#mode.enter('closed')
    this.#drains.settle()
    await this.#thread.leave(this.#number)
    this.#outgoing.end()
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

  /** Ask the engine for a drain, whichever thread it is in. Resolves by its deadline, whatever that does. */
  async #drain(mode: DrainMode, time: FlushTime): Promise<void> {
    this.#outgoing.handOver()
    if (this.#inline !== undefined) {
      await this.#inline[mode](time)
      return
    }
    if (this.#mode.now === 'closed') return
    if (this.#mode.now === 'waiting') {
      if (!this.busy) return
      this.#thread.hurry()
    }
    await this.#drains.ask(mode, time, this.#account.written)
    // Its answer is faster than the news that came before it.
    this.#thread.catchUp()
    this.#tellDrops()
  }
}
