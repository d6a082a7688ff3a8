import { existsSync, readlinkSync } from 'node:fs'

/** The place in its work at which a worker has stopped. */
export interface Standstill {
  /** Number of the engine that it worked for. */
  readonly engine: number
  /** `line`: it took lines, and the first that it has not taken is the cause. `disk`: it waited for the disk of the spool. */
  readonly at: 'line' | 'disk'
}

const lineWord = 0
const diskWord = 1
const progressWord = 2
const threadWord = 3
const words = 4
const nowhere = 0

/**
 * Shared memory in which a worker writes where it is, so that the application's thread can tell what it died of. One thread writes.
 * Engines have numbers from 1.
 */
export class WorkerPosition {
  readonly memory: SharedArrayBuffer
  readonly #words: Int32Array

  constructor(memory = new SharedArrayBuffer(words * 4)) {
    this.memory = memory
    this.#words = new Int32Array(memory)
  }

  /** Said by the worker itself: which thread of the operating system it is, where that can be known. */
  nameThread(): void {
    try {
      Atomics.store(this.#words, threadWord, Number(/\d+$/.exec(readlinkSync('/proc/thread-self'))?.[0]))
    } catch {
      // Only Linux knows.
    }
  }

  /** False once the worker's thread has ended; true where that cannot be known. */
  get threadLives(): boolean {
    const thread = Atomics.load(this.#words, threadWord)
    return thread === 0 || existsSync(`/proc/self/task/${thread}`)
  }

  /** Lines for this engine are being taken. */
  takesLinesOf(engine: number): void {
    Atomics.store(this.#words, lineWord, engine)
  }

  takesNoLines(): void {
    Atomics.store(this.#words, lineWord, nowhere)
  }

  /** One line more is taken. */
  advance(): void {
    this.#words[progressWord]!++
  }

  /** Changes as long as lines are being taken. */
  get progress(): number {
    return Atomics.load(this.#words, progressWord)
  }

  /** Do work that may wait for a disk. */
  onDisk<Result>(engine: number, work: () => Result): Result {
    const before = Atomics.exchange(this.#words, diskWord, engine)
    try {
      return work()
    } finally {
      Atomics.store(this.#words, diskWord, before)
    }
  }

  /** Where the worker is now; undefined while it does neither. */
  get standstill(): Standstill | undefined {
    const disk = Atomics.load(this.#words, diskWord)
    if (disk !== nowhere) return { engine: disk, at: 'disk' }
    const line = Atomics.load(this.#words, lineWord)
    return line === nowhere ? undefined : { engine: line, at: 'line' }
  }
}
