import { type Bell, type BellMaker, sharedBell } from '../control/bell.js'
import { type FrameHead, FrameMemory, padCode } from './frame.js'

const version = 1
/** Int32 words. What the writer's thread writes and what the reader's does are in cache lines of their own. */
export const word = {
  version: 0,
  words: 1,
  state: 2,
  atDisk: 3,
  thread: 4,
  written: 16,
  bell: 17,
  read: 32,
  taken: 33,
  busy: 34,
  room: 35,
  rests: 36,
} as const
const headBytes = 256
/** Bytes for frames. They must be fewer than 2^31. */
const defaultBytes = 65_536

/** Tells how many records the ledger counts as taken. Undefined while none may be taken. */
export interface TakenCount {
  taken(): number | undefined
}

/** `bell` calls the reader: there is something. `room` calls the writer: there is room again. */
export interface PipeBells {
  readonly bell: Bell
  readonly room: Bell
}

/**
 * The memory of a pipe from one thread to another: words, then a ring of frames.
 *
 *     │ frame │ frame │    free    │ frame │ frame │ pad │
 *                     ▲ written    ▲ read
 *
 * Positions are bytes of the ring, divisible by 8. The ring is empty where both are equal. Only the writer moves `written`, only the reader
 * `read`. The reader sets `rests` while it takes frames only after a ring; else it looks for them by itself. While the sink has a frame, `busy` is its position plus 1, and `taken` is what the ledger had counted before.
 */
export class PipeMemory {
  readonly words: Int32Array
  readonly frames: FrameMemory
  readonly bells: PipeBells

  private constructor(memory: SharedArrayBuffer, bell: BellMaker) {
    this.words = new Int32Array(memory, 0, headBytes / 4)
    this.frames = new FrameMemory(memory, headBytes)
    this.bells = { bell: bell(this.words, word.bell), room: bell(this.words, word.room) }
  }

  /** Undefined for a version that this copy of the package does not know. */
  static open(memory: SharedArrayBuffer, bell = sharedBell): PipeMemory | undefined {
    const isKnown = memory.byteLength > headBytes && new Int32Array(memory, 0, 1)[word.version] === version
    return isKnown ? new PipeMemory(memory, bell) : undefined
  }

  static create(bytes = defaultBytes): SharedArrayBuffer {
    const memory = new SharedArrayBuffer(headBytes + bytes)
    new Int32Array(memory).set([version, word.rests + 1])
    return memory
  }

  /** Bytes of the ring. */
  get capacity(): number {
    return this.frames.bytes.length
  }

  get(name: Exclude<keyof typeof word, 'version' | 'words'>): number {
    return Atomics.load(this.words, word[name])
  }

  set(name: Exclude<keyof typeof word, 'version' | 'words'>, value: number): void {
    Atomics.store(this.words, word[name], value)
  }

  /** The frame that a sink has. Where its reader is dead, and its ledger did not count it, it may be the cause. */
  get busyWith(): FrameHead | undefined {
    const at = this.get('read')
    return this.get('busy') === at + 1 ? this.frames.headAt(at) : undefined
  }

  /**
   * A reader is dead, or its sink has thrown. If the ledger had counted the frame that the sink had, move on: it is counted once. Else it is
   * the next frame still, and {@link busyWith} names it.
   *
   * @returns false while none may be taken
   */
  settle(count: TakenCount): boolean {
    const at = this.get('read')
    if (this.get('busy') === at + 1) {
      const taken = count.taken()
      if (taken === undefined) return false
      if ((taken | 0) === this.get('taken')) return true
      this.move(at)
    }
    // Else the position could mean another frame, a lap later.
    this.set('busy', 0)
    return true
  }

  /**
   * Drop the frame that is next, while there is no reader. Call {@link settle} before.
   *
   * @returns its head; undefined without a frame. A `style` carries no record, and a `part` neither: its line is counted as unreadable when its
   * end is taken.
   */
  skip(): FrameHead | undefined {
    let at = this.get('read')
    while (at !== this.get('written') && this.frames.codeAt(at) === padCode) at = this.move(at)
    if (at === this.get('written')) return undefined
    const head = this.frames.headAt(at)
    this.move(at)
    this.set('busy', 0)
    return head
  }

  /** Move `read` behind the frame at `at`, where it is. */
  move(at: number): number {
    const behind = this.frames.behind(at)
    const next = behind === this.capacity ? 0 : behind
    this.set('read', next)
    return next
  }
}
