import type { LaneName, Ledger, SuppressReason } from '../delivery/ledger.js'
import { LedgerBook } from '../delivery/ledger-book.js'
import { SettledPort } from '../engine/idle.js'
import type { Drainable, KeyedValue, PinoLine, RecordSink } from '../engine/ports.js'
import { RecordWriter } from '../engine/record-writer.js'
import { type CompleteLog, VolumeControl } from '../engine/volume-control.js'
import type { ResolvedOptions } from '../options/options.js'
import type { MappedLog } from '../records/encode.js'
import type { WinstonLine } from '../records/winston-line.js'
import type { LogRecord, RecordKind, ValueRecord } from '../records/wire.js'
import { systemClock } from '../runtime/clock.js'
import { hostGlobal } from '../runtime/host.js'
import { isCapturing, setCapturing } from '../runtime/shared-state.js'

/** Takes records in place of the service, in tests. */
export interface Capture {
  record(kind: RecordKind, record: LogRecord | ValueRecord): void
}

/** One for the whole thread, made by the first copy of the package. */
const key = Symbol.for('sluice.capture.v1')
const shared = hostGlobal as { [key]?: { capture: Capture | undefined } }
shared[key] ??= { capture: undefined }
const holder = shared[key]

/** A port for each set of options. A new capture starts with none. */
let ports = new WeakMap<ResolvedOptions, { readonly capture: Capture; readonly port: CapturePort }>()

/** Capture all records of this thread from now on. With undefined they are delivered again. */
export function setCapture(capture: Capture | undefined): void {
  holder.capture = capture
  ports = new WeakMap()
}

export function currentCapture(): Capture | undefined {
  return holder.capture
}

/** The port that captures records; undefined while none does. */
export function capturePort(options: ResolvedOptions): (RecordSink & Drainable) | undefined {
  const { capture } = holder
  return capture === undefined ? undefined : portOf(options, capture)
}

function portOf(options: ResolvedOptions, capture: Capture): CapturePort {
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
  readonly #volume: VolumeControl

  constructor(options: ResolvedOptions, capture: Capture) {
    super()
    this.#capture = capture
    this.#writer = new RecordWriter(options)
    this.#volume = new VolumeControl({
      options,
      clock: systemClock,
      ship: (record) => this.#ship(record),
      suppress: (reason) => this.#suppress(reason),
      kept: (change) => this.#book.keptForError(laneOf('logs'), change),
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
    if (redacted) this.#book.redacted(laneOf('logs'))
  }

  #suppress(reason: SuppressReason): void {
    this.#book.suppress(laneOf('logs'), { reason, handedOver: false })
  }

  #take(kind: RecordKind, body: string, { kept = false } = {}): void {
    const lane = laneOf(kind)
    const bytes = Buffer.byteLength(body)
    if (kept) this.#book.needed(lane, bytes)
    else this.#book.accept(lane, { bytes, handedOver: false })
    this.#book.depart(lane, { retries: 0 })
    this.#book.deliver(lane, bytes)
    this.#capture.record(kind, JSON.parse(body))
  }
}

function laneOf(kind: RecordKind): number {
  return lanes.findIndex((each) => each.kind === kind)
}

/** Messages between threads about a capture. */
export type CaptureMessage =
  | { readonly type: 'capture'; readonly active: boolean }
  | { readonly type: 'captured'; readonly kind: RecordKind; readonly record: LogRecord | ValueRecord }

/** Makes the capture of one thread take the records of all threads of the process. */
export class ProcessCapture {
  readonly #post: (message: CaptureMessage) => void
  /** The capture of another thread. */
  readonly #elsewhere: Capture = {
    record: (kind, record) => this.#post({ type: 'captured', kind, record }),
  }

  /** @param post to all other threads */
  constructor(post: (message: CaptureMessage) => void) {
    this.#post = post
    this.notice()
  }

  /** Follow the flag in shared memory: the message of another thread may come too late. */
  notice(): void {
    if (isCapturing()) {
      if (currentCapture() === undefined) setCapture(this.#elsewhere)
    } else if (currentCapture() === this.#elsewhere) setCapture(undefined)
  }

  /** Capture the records of every thread from now on. */
  begin(capture: Capture): void {
    this.#set(capture)
  }

  /** Stop capturing, unless another capture has taken over. */
  end(capture: Capture): void {
    if (currentCapture() === capture) this.#set(undefined)
  }

  /** Announce the capture to a thread that has just started: it may not share the flag. */
  tell(): void {
    if (currentCapture() !== undefined && currentCapture() !== this.#elsewhere)
      this.#post({ type: 'capture', active: true })
  }

  receive(message: CaptureMessage): void {
    if (message.type === 'capture') setCapture(message.active ? this.#elsewhere : undefined)
    else if (currentCapture() !== this.#elsewhere) currentCapture()?.record(message.kind, message.record)
  }

  #set(capture: Capture | undefined): void {
    setCapture(capture)
    setCapturing(capture !== undefined)
    // For threads that started before this module was loaded: they do not share the flag.
    this.#post({ type: 'capture', active: capture !== undefined })
  }
}
