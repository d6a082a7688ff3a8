import { systemThread, systemThreadLives } from '../runtime/system-thread.js'

/** The work at which a worker stands. */
export interface Standstill {
  /** Number of the engine that it works for. */
  readonly engine: number
  /** `line`: it takes lines; if it has stopped, the first line that it has not taken is the cause. `disk`: it waits for the disk. */
  readonly at: 'line' | 'disk'
}

/** The place of one engine in the position of its worker. */
export interface EnginePosition {
  readonly worker: WorkerPosition
  /** Number of the engine there. */
  readonly engine: number
}

const lineWord = 0
const diskWord = 1
const progressWord = 2
const threadWord = 3
const words = 4
const nowhere = 0

/**
 * Shared memory in which a worker writes what it does, so that the application's thread knows at which work it has stopped. One thread
 * writes. Engines have numbers from 1.
 */
export class WorkerPosition {
  readonly memory: SharedArrayBuffer
  readonly #words: Int32Array

  constructor(memory = new SharedArrayBuffer(words * 4)) {
    this.memory = memory
    this.#words = new Int32Array(memory)
  }

  /** Called by the worker: writes down its thread of the operating system, on Linux. */
  nameThread(): void {
    Atomics.store(this.#words, threadWord, systemThread())
  }

  /** False when the worker's thread has ended. Always true where the system does not tell. */
  get threadLives(): boolean {
    return systemThreadLives(Atomics.load(this.#words, threadWord))
  }

  takesLinesOf(engine: number): void {
    Atomics.store(this.#words, lineWord, engine)
  }

  takesNoLines(): void {
    Atomics.store(this.#words, lineWord, nowhere)
  }

  advance(): void {
    this.#words[progressWord]!++
  }

  /** Changes while the worker takes lines. */
  get progress(): number {
    return Atomics.load(this.#words, progressWord)
  }

  /** Run work that may wait for a disk. */
  onDisk<Result>(engine: number, work: () => Result): Result {
    const before = Atomics.exchange(this.#words, diskWord, engine)
    try {
      return work()
    } finally {
      Atomics.store(this.#words, diskWord, before)
    }
  }

  /** The present work; undefined while it neither takes lines nor uses the disk. */
  get standstill(): Standstill | undefined {
    const disk = Atomics.load(this.#words, diskWord)
    if (disk !== nowhere) return { engine: disk, at: 'disk' }
    const line = Atomics.load(this.#words, lineWord)
    return line === nowhere ? undefined : { engine: line, at: 'line' }
  }
}
