import type { LogRecord, RecordKind, ValueRecord } from '../records/wire.js'
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

let changes = 0

/** So often this copy of the package has begun or ended a capture. */
export function captureChanges(): number {
  return changes
}

/** Capture all records of this thread from now on. With undefined they are delivered again. */
export function setCapture(capture: Capture | undefined): void {
  holder.capture = capture
  changes++
}

export function currentCapture(): Capture | undefined {
  return holder.capture
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
