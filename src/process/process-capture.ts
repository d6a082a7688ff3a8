import type { LogRecord, RecordKind, ValueRecord } from '../records/wire.js'
import { sharedMemory } from '../runtime/shared-memory.js'
import { type Capture, currentCapture, setCapture } from './capture.js'

/** What threads say to each other of a capture. */
export type CaptureMessage =
  | { readonly type: 'capture'; readonly active: boolean }
  | { readonly type: 'captured'; readonly kind: RecordKind; readonly record: LogRecord | ValueRecord }

/** A capture of one thread takes the records of all threads of the process. */
export class ProcessCapture {
  readonly #post: (message: CaptureMessage) => void
  /** One word for this thread and all that are started after it was made: 1 while one of them captures. */
  readonly #flag = new Int32Array(sharedMemory('sluice:capture', 4))
  /** Another thread captures: this one hands over to it. */
  readonly #elsewhere: Capture = {
    record: (kind, record) => this.#post({ type: 'captured', kind, record }),
  }

  /** @param post to all other threads */
  constructor(post: (message: CaptureMessage) => void) {
    this.#post = post
    this.notice()
  }

  /** Look whether another thread captures: in memory that all threads share, for a message may come too late. */
  notice(): void {
    if (Atomics.load(this.#flag, 0) === 1) {
      if (currentCapture() === undefined) setCapture(this.#elsewhere)
    } else if (currentCapture() === this.#elsewhere) setCapture(undefined)
  }

  /** Take the records of every thread of the process from now on. */
  begin(capture: Capture): void {
    this.#set(capture)
  }

  /** Deliver again, unless another capture has taken over. */
  end(capture: Capture): void {
    if (currentCapture() === capture) this.#set(undefined)
  }

  /** A thread has just started: tell it, for it may not share the flag. */
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
    Atomics.store(this.#flag, 0, capture === undefined ? 0 : 1)
    // For threads that were started before this module was loaded.
    this.#post({ type: 'capture', active: capture !== undefined })
  }
}
