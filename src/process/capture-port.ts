import type { LaneName, Ledger, SuppressReason } from '../delivery/ledger.js'
import { LedgerBook } from '../delivery/ledger-book.js'
import { SettledPort } from '../engine/idle.js'
import type { Drainable, KeyedValue, PinoLine, RecordSink } from '../engine/ports.js'
import { RecordWriter } from '../engine/record-writer.js'
import type { ResolvedOptions } from '../options/options.js'
import type { MappedLog } from '../records/encode.js'
import type { WinstonLine } from '../records/winston-line.js'
import type { RecordKind } from '../records/wire.js'
import { systemClock } from '../runtime/clock.js'
import type { CompleteLog } from '../volume/kept-lines.js'
import { Volume } from '../volume/volume.js'
import { type Capture, captureChanges, currentCapture } from './capture.js'

/** A port for each set of options. A new capture starts with none. */
let ports = new WeakMap<ResolvedOptions, { readonly capture: Capture; readonly port: CapturePort }>()
let changes = captureChanges()

/** The port that captures records; undefined while none does. */
export function capturePort(options: ResolvedOptions): (RecordSink & Drainable) | undefined {
  const capture = currentCapture()
  return capture === undefined ? undefined : portOf(options, capture)
}

function portOf(options: ResolvedOptions, capture: Capture): CapturePort {
  if (changes !== captureChanges()) {
    ports = new WeakMap()
    changes = captureChanges()
  }
  const known = ports.get(options)
  if (known?.capture === capture) return known.port
  const port = new CapturePort(options, capture)
  ports.set(options, { capture, port })
  return port
}

const lanes: readonly LaneName[] = [
  { kind: 'logs', bucket: 'captured' },
  { kind: 'values', bucket: 'captured' },
]

/**
 * Gives every record that is to be sent to a capture at once, in the form that the service gets, and counts it as delivered. The others are
 * left out as configured.
 */
class CapturePort extends SettledPort implements RecordSink {
  readonly #capture: Capture
  readonly #writer: RecordWriter
  readonly #book = new LedgerBook(lanes)
  readonly #volume: Volume

  constructor(options: ResolvedOptions, capture: Capture) {
    super()
    this.#capture = capture
    this.#writer = new RecordWriter(options)
    this.#volume = new Volume({
      options,
      clock: systemClock,
      ship: (record) => this.#ship(record),
      suppress: (reason) => this.#suppress(reason),
      kept: (change) => this.#book.count(laneOf('logs'), 'keptForError', change),
      release: (record) => this.#ship(record, { kept: true }),
      say: (mapped) => this.log(mapped),
    })
  }

  log(mapped: MappedLog): void {
    const { severity, facts, sampledOut = false, redacted = false, below = false } = mapped
    if (sampledOut) {
      this.#suppress('sampled')
      return
    }
    const record = { severity, redacted, body: this.#writer.log(mapped) }
    if (facts === undefined) this.#ship(record)
    else this.#volume.take({ ...record, facts, below })
  }

  winstonLine(line: string, about: WinstonLine): void {
    this.log({ ...this.#writer.winstonLine(line, about), below: about.below ?? false })
  }

  pinoLine(line: string, about: PinoLine): void {
    this.log({ ...this.#writer.pinoLine(line, about), below: about.below ?? false })
  }

  value(eventId: number, milliseconds: number): void {
    this.#take('values', this.#writer.value(eventId, milliseconds))
  }

  keyedValue({ eventId, milliseconds }: KeyedValue): void {
    this.value(eventId, milliseconds)
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

  override park(): Promise<Ledger> {
    this.#volume.tell()
    return super.park()
  }

  override close(): Promise<Ledger> {
    this.#volume.tell()
    return super.close()
  }

  #ship({ body, redacted }: CompleteLog, { kept = false } = {}): void {
    this.#take('logs', body, { kept })
    if (redacted) this.#book.count(laneOf('logs'), 'redacted', 1)
  }

  #suppress(reason: SuppressReason): void {
    this.#book.move(laneOf('logs'), 'none', reason, 1, 0)
  }

  #take(kind: RecordKind, body: string, { kept = false } = {}): void {
    const lane = laneOf(kind)
    const bytes = Buffer.byteLength(body)
    this.#book.move(lane, kept ? 'unneeded' : 'none', 'inFlight', 1, bytes)
    this.#book.move(lane, 'inFlight', 'delivered', 1, bytes)
    this.#capture.record(kind, JSON.parse(body))
  }
}

function laneOf(kind: RecordKind): number {
  return lanes.findIndex((each) => each.kind === kind)
}
