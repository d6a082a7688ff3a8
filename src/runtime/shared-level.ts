import { sharedMemory } from './shared-memory.js'

/** A level that takes the place of the option `level`. Moments are milliseconds of `processNow`. */
export interface LevelChange {
  /** Name of the level; undefined where the option `level` holds again. */
  readonly level: string | undefined
  /** The moment of the change. Of two changes the later one holds. */
  readonly at: number
  /** The moment at which it ends; infinite for a change that holds until the next one. */
  readonly until: number
}

/** Most bytes of a level's name. */
export const maxLevelBytes = 64
const slotBits = 6
const slots = 2 ** slotBits
/** Each slot holds the two moments of a change, the length of its name and the name. */
const slotBytes = 24 + maxLevelBytes
/** The memory begins with the version, and a word for each slot: 1 while it is taken. */
const current = 0
const taken = 2
const headBytes = 4 * (taken + slots)
const bytes = headBytes + slots * slotBytes
/** The least time between two changes, in milliseconds. */
const tickMs = 0.001

/**
 * The last change of the level, in memory that threads share.
 *
 * A thread takes a free slot, writes its change there, and makes it the current one by one write: the version, which is a count and the
 * number of the slot. Then it frees the slot of the change before. So no thread waits for another, a thread that is held up or ends in the
 * middle disturbs none, and a reader that finds the same version before and after has read one whole change.
 */
export class SharedLevel {
  readonly #memory: SharedArrayBuffer
  readonly #words: Int32Array

  constructor(memory = new SharedArrayBuffer(bytes)) {
    this.#memory = memory
    this.#words = new Int32Array(memory, 0, taken + slots)
  }

  /** Another number after each change; 0 before the first. */
  get version(): number {
    return Atomics.load(this.#words, current)
  }

  /** The version by a plain read, which costs a tenth of an atomic one. It may be a moment late, and says nothing about the change itself. */
  get glance(): number {
    return this.#words[current]!
  }

  /** The last change; undefined before the first. */
  get change(): LevelChange | undefined {
    for (;;) {
      const { version } = this
      if (version === 0) return undefined
      const change = this.#read(version)
      if (this.version === version) return change
    }
  }

  /** Replace the last change by one that was made now. */
  set(level: string | undefined, { now, forMs }: { readonly now: number; readonly forMs: number }): void {
    this.#replace((before) => {
      // Clocks of threads may differ: a change is always later than the change that it replaces.
      const at = before === undefined ? now : Math.max(now, before.at + tickMs)
      return { level, at, until: now + forMs }
    })
  }

  /** Take over a change from a thread that may have other memory, unless a later one is here. */
  adopt(change: LevelChange): void {
    this.#replace((here) => (here !== undefined && here.at >= change.at ? undefined : change))
  }

  /** @param by gives the change that follows the last one; undefined for none */
  #replace(by: (before: LevelChange | undefined) => LevelChange | undefined): void {
    const slot = this.#take()
    for (;;) {
      const { version } = this
      const change = by(this.change)
      if (change === undefined) {
        this.#free(slot)
        return
      }
      this.#write(slot, change)
      const next = (((version >>> slotBits) + 1) << slotBits) | slot
      if (Atomics.compareExchange(this.#words, current, version, next) !== version) continue
      if (version !== 0) this.#free(version)
      return
    }
  }

  #take(): number {
    for (let slot = 0; slot < slots; slot++) {
      if (Atomics.compareExchange(this.#words, taken + slot, 0, 1) === 0) return slot
    }
    // Of 64 threads each has ended in the middle of a change: one of their slots is used again.
    return (this.version + 1) & (slots - 1)
  }

  #free(version: number): void {
    Atomics.store(this.#words, taken + (version & (slots - 1)), 0)
  }

  #read(version: number): LevelChange {
    const { moments, length, name } = this.#slot(version)
    const [at = 0, until = 0] = moments
    const level = length[0] === 0 ? undefined : name.toString('utf8', 0, length[0])
    return { level, at, until }
  }

  #write(version: number, { level = '', at, until }: LevelChange): void {
    const { moments, length, name } = this.#slot(version)
    moments.set([at, until])
    length[0] = name.write(level)
  }

  #slot(version: number) {
    const at = headBytes + (version & (slots - 1)) * slotBytes
    return {
      moments: new Float64Array(this.#memory, at, 2),
      length: new Int32Array(this.#memory, at + 16, 1),
      name: Buffer.from(this.#memory, at + 24, maxLevelBytes),
    }
  }
}

let own: SharedLevel | undefined

/** That of the process. The first call shares it with the threads that this thread starts from then on. */
export function sharedLevel(): SharedLevel {
  own ??= new SharedLevel(sharedMemory('sluice:level.v1', bytes))
  return own
}
