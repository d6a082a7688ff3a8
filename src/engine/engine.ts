import { randomUUID } from 'node:crypto'
import { ControlBlock } from '../control/control-block.js'
import type { LaneName, Ledger } from '../delivery/ledger.js'
import { LedgerBook } from '../delivery/ledger-book.js'
import type { FlushTime } from '../delivery/plan.js'
import { ownListeners, Reporter } from '../diagnostics/reporter.js'
import { ledgerLine, printLine } from '../diagnostics/stderr.js'
import type { SluiceErrorCode } from '../errors/sluice-error.js'
import { textOf } from '../errors/text-of.js'
import type { ResolvedOptions } from '../options/options.js'
import type { MappedLog } from '../records/encode.js'
import { idempotencyKeyOf } from '../records/event-key.js'
import { valueSeverity } from '../records/level.js'
import type { RecordKind } from '../records/wire.js'
import { EngineDelivery } from './engine-delivery.js'
import { EngineSender } from './engine-sender.js'
import { type EngineReporter, type EngineSetting, lanesOf } from './engine-setting.js'
import { LogIntake } from './log-intake.js'
import { thisMachine } from './machine.js'
import { nothingListens } from './nothing-listens.js'
import {
  type AcceptanceWatch,
  type EndOptions,
  type EndStep,
  type FlushOptions,
  type KeyedValue,
  type Line,
  type RecordPort,
  timeOf,
} from './ports.js'
import { RecordWriter } from './record-writer.js'

/** Time for which a process that is about to end gathers records, in case it lives on. */
const endingMs = 50
const longestParkingMs = 250

/** The part of a park or close that is kept to move what is left to the spool. */
export function parkingMs(timeoutMs: number, { spoolDir }: Pick<ResolvedOptions, 'spoolDir'>): number {
  return spoolDir === undefined ? 0 : Math.min(timeoutMs / 4, longestParkingMs)
}

/** One delivery with its lanes, its sender and its reporter, set up from the options. */
export class Engine implements RecordPort {
  readonly id = randomUUID()
  readonly lanes: readonly LaneName[]
  readonly position: SharedArrayBuffer | undefined
  readonly #reporter: EngineReporter
  readonly #accepted: AcceptanceWatch['accepted']
  readonly options: ResolvedOptions
  readonly #delivery: EngineDelivery
  readonly #logs: LogIntake
  readonly #writer: RecordWriter
  readonly #logLane: number
  readonly #valueLane: number
  #closing: Promise<Ledger> | undefined

  constructor(options: ResolvedOptions, setting: EngineSetting = {}) {
    const { kinds, reporter, position, machine = thisMachine } = setting
    const { print = machine.print, accepted } = setting
    this.#accepted = accepted
    this.position = position?.worker.memory
    this.options = options
    this.lanes = lanesOf(options, kinds)
    const { memory = LedgerBook.memory(this.lanes) } = setting
    this.#logLane = this.lanes.findIndex(({ kind }) => kind === 'logs')
    this.#valueLane = this.lanes.findIndex(({ kind }) => kind === 'values')
    this.#writer = new RecordWriter(options)
    const { clock, random, files, owners } = machine
    const warn = (message: string) => {
      if (this.#logLane === -1) return
      this.#logs.say(this.#writer.warning(message))
      this.#accepted?.()
    }
    const listeners = ownListeners(options.onError)
    const end = new ControlBlock(memory)
    this.#reporter =
      reporter?.(warn) ?? new Reporter({ clock, listeners, print, nowhere: nothingListens(options), end, warn })
    const report = (code: SluiceErrorCode, text: string) => this.misused(code, text)
    const { sender = new EngineSender(options, { machine, report }) } = setting
    const { spoolDir, maxQueueRecords, maxQueueBytes } = options
    const spoolFails = (text: string) => this.misused('SLUICE_SPOOL', text, text)
    const { lanes } = this
    const spool =
      spoolDir === undefined
        ? undefined
        : { options, spoolDir, lanes, position, report: spoolFails, machine: { clock, random, files, owners } }
    this.#delivery = new EngineDelivery({
      lanes,
      loop: clock,
      random,
      service: machine.service?.(options.url),
      memory,
      observer: this.#reporter,
      limits: { maxQueueRecords, maxQueueBytes },
      maxConnections: options.maxConnections,
      maxBatch: machine.maxBatch,
      lingerMs: options.lingerMs,
      requestTimeoutMs: options.requestTimeoutMs,
      retry: { baseMs: options.retryBaseMs, capMs: options.retryCapMs },
      probe: { baseMs: options.probeBaseMs, capMs: options.probeCapMs },
      keyPrefix: this.id,
      sender: sender.sender,
      startExit: (withinMs) => sender.startExit(withinMs),
      spool,
    })
    machine.watch?.(this.#delivery)
    this.#logs = new LogIntake({
      options,
      clock,
      delivery: this.#delivery,
      lane: this.#logLane,
      writer: this.#writer,
      gathers: setting.gathers === true,
      unreadable: (error) => this.#unreadable(error),
    })
    this.#delivery.start()
  }

  get memory(): SharedArrayBuffer {
    return this.#delivery.book.memory
  }

  /** True while at least half of the room for records in memory is free. */
  get isRoomy(): boolean {
    return this.#delivery.isRoomy
  }

  get closed(): boolean {
    return this.#closing !== undefined
  }

  line(text: string, line: Line): void {
    this.#logs.line(text, line)
    this.#accepted?.()
  }

  /**
   * Accept a log record.
   *
   * @param idempotencyKey unlike that of any other record, if the record may be accepted again @default one that is made when it is sent
   */
  log(mapped: MappedLog, idempotencyKey?: string): void {
    this.#logs.readAll()
    this.#logs.log(mapped, { idempotencyKey })
    this.#accepted?.()
  }

  value(eventId: number, milliseconds: number): void {
    const body = this.#writer.value(eventId, milliseconds)
    this.#delivery.accept(this.#valueLane, { body, severity: valueSeverity })
    this.#accepted?.()
  }

  keyedValue(value: KeyedValue): void {
    const body = this.#writer.value(value.eventId, value.milliseconds)
    const idempotencyKey = idempotencyKeyOf(value)
    this.#delivery.accept(this.#valueLane, { body, severity: valueSeverity, idempotencyKey })
    this.#accepted?.()
  }

  unmapped(error: unknown): void {
    this.log(this.#unreadable(error))
  }

  /** Send what waits to be sent with others. */
  sendGathered(): void {
    this.#logs.readAll()
    this.#delivery.sendGathered()
  }

  /** Drop a long line whose beginning another thread had, which is gone. */
  lostLine(): void {
    this.#delivery.refuse(this.#logLane, 'unreadable')
  }

  #unreadable(error: unknown): MappedLog {
    this.misused('SLUICE_UNMAPPED', `a line could not be read: ${textOf(error)}`)
    return this.#writer.unreadable
  }

  refuse(kind: RecordKind): void {
    const lane = kind === 'logs' ? this.#logLane : this.#valueLane
    this.#delivery.refuse(lane, 'closed')
  }

  misused(code: SluiceErrorCode, text: string, kind?: string): void {
    this.#reporter.misused(code, text, kind)
  }

  invalid(): void {
    this.#delivery.invalid()
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

  flush(options?: FlushOptions): Promise<Ledger> {
    this.#logs.readAll()
    return this.#delivery.flush(timeOf(options, this.options))
  }

  park(options?: EndOptions): Promise<Ledger> {
    this.#logs.readAll()
    return this.#delivery.flush(this.#beforeParking(options)).then(() => {
      this.#delivery.park()
      this.#reporter.tellAll()
      return this.stats()
    })
  }

  close(options?: EndOptions): Promise<Ledger> {
    this.#closing ??= this.#close(this.#beforeParking(options))
    return this.#closing
  }

  #close(time: FlushTime): Promise<Ledger> {
    this.#logs.end()
    return this.#delivery.close(time).then((ledger) => {
      this.#reporter.ended(ledger.lanes)
      if (this.options.debug && this.#delivery.book.showsLast()) printLine(ledgerLine(ledger))
      return ledger
    })
  }

  /** The time for requests: at the deadline, what is left must be on disk and counted as spooled. */
  #beforeParking(options: EndOptions | undefined): FlushTime {
    const time = timeOf(options, this.options)
    return { ...time, timeoutMs: time.timeoutMs - parkingMs(time.timeoutMs, this.options) }
  }

  /** A request would keep the process alive, and come too late if it does not. */
  ending(): void {
    this.#delivery.gatherFor(endingMs)
  }

  beforeEnd(): boolean {
    return false
  }

  /** Another thread makes the requests while this one is blocked. What is left then stays on disk, where there is a spool. */
  endSync(options?: EndOptions): EndStep {
    this.#logs.end()
    const step = this.#delivery.endSync(timeOf(options, this.options))
    return (waitMs) => {
      if (!step(waitMs)) return false
      this.#reporter.tellAll()
      this.#delivery.leave()
      return true
    }
  }
}
