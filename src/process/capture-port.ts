import { randomUUID } from 'node:crypto'
import type { LaneName, Ledger } from '../delivery/ledger.js'
import { LedgerBook } from '../delivery/ledger-book.js'
import type { EndStep, PinoLine, RecordPort } from '../engine/ports.js'
import { RecordWriter } from '../engine/record-writer.js'
import type { ResolvedOptions } from '../options/options.js'
import type { MappedLog } from '../records/encode.js'
import type { WinstonLine } from '../records/plain-winston-line.js'
import type { RecordKind } from '../records/wire.js'
import type { Capture } from './capture.js'

/** Gives every record to a capture at once, as the service would get it, and counts it as delivered. */
export class CapturePort implements RecordPort {
  readonly id = randomUUID()
  readonly lanes: readonly LaneName[] = [
    { kind: 'logs', bucket: 'captured' },
    { kind: 'values', bucket: 'captured' },
  ]
  readonly options: ResolvedOptions
  readonly closed = false
  readonly #capture: Capture
  readonly #writer: RecordWriter
  readonly #book = new LedgerBook(this.lanes)

  constructor(options: ResolvedOptions, capture: Capture) {
    this.options = options
    this.#capture = capture
    this.#writer = new RecordWriter(options)
  }

  get memory(): SharedArrayBuffer {
    return this.#book.memory
  }

  log(mapped: MappedLog): void {
    this.#take('logs', this.#writer.log(mapped))
  }

  winstonLine(line: string, about: WinstonLine): void {
    this.log(this.#writer.winstonLine(line, about))
  }

  pinoLine(line: string, about: PinoLine): void {
    this.log(this.#writer.pinoLine(line, about))
  }

  value(eventId: number, milliseconds: number): void {
    this.#take('values', this.#writer.value(eventId, milliseconds))
  }

  unmapped(): void {
    this.log(this.#writer.unreadable)
  }

  refuse(): void {}

  invalid(): void {
    this.#book.invalid()
  }

  misused(): void {}

  stats(): Ledger {
    return this.#book.read()
  }

  async flush(): Promise<Ledger> {
    return this.stats()
  }

  async park(): Promise<Ledger> {
    return this.stats()
  }

  async close(): Promise<Ledger> {
    return this.stats()
  }

  ending(): void {}

  beforeEnd(): boolean {
    return false
  }

  endSync(): EndStep {
    return () => true
  }

  #take(kind: RecordKind, body: string): void {
    const lane = this.lanes.findIndex((each) => each.kind === kind)
    const bytes = Buffer.byteLength(body)
    this.#book.accept(lane, { bytes, handedOver: false })
    this.#book.depart(lane, { retry: false })
    this.#book.deliver(lane, bytes)
    this.#capture.record(kind, JSON.parse(body))
  }
}
