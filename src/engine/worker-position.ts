import { systemThread, systemThreadLives } from '../runtime/system-thread.js'

/** The place of one engine in the position of its worker. */
export interface EnginePosition {
  readonly worker: WorkerPosition
  /** Number of the engine there. */
  readonly engine: number
}

const diskWord = 0
const threadWord = 1
const words = 2

/**
 * Shared memory in which a worker writes whether it waits for a disk, so that the application's thread knows at which work it has stopped.
 * One thread writes. Engines have numbers from 1.
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

  /** Run work that may wait for a disk. */
  onDisk<Result>(engine: number, work: () => Result): Result {
    const before = Atomics.exchange(this.#words, diskWord, engine)
    try {
      return work()
    } finally {
      Atomics.store(this.#words, diskWord, before)
    }
  }

  /** Number of the engine for which it uses the disk; undefined while it does not. */
  get atDiskOf(): number | undefined {
    return Atomics.load(this.#words, diskWord) || undefined
  }
}
