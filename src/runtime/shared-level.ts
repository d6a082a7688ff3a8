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
const slots = 64
/** Each slot holds the two moments of a change, the length of its name and the name. */
const slotBytes = 24 + maxLevelBytes
/** The memory begins with the ticket of the change that holds, and the last ticket that was given. */
const headBytes = 8
const bytes = headBytes + slots * slotBytes
/** The least time between two changes of one thread, in milliseconds. */
const tickMs = 0.001

/**
 * The last change of the level, in memory that threads share.
 *
 * Each change takes a ticket, is written to the slot of the ticket, and holds as soon as its ticket is the current one. So no thread waits
 * for another, and a thread that ends in the middle of a change leaves nothing behind. A reader sees whole changes: a slot is written
 * again only after 63 later changes.
 */
export class SharedLevel {
  readonly #memory: SharedArrayBuffer
  readonly #words: Int32Array

  constructor(memory = new SharedArrayBuffer(bytes)) {
    this.#memory = memory
    this.#words = new Int32Array(memory)
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
    const ticket = this.#ticket()
    for (;;) {
      const replaced = this.version
      const before = this.change
      // Clocks of threads may differ: a change is always later than the one that its caller replaces.
      const at = before === undefined ? now : Math.max(now, before.at + tickMs)
      this.#write(ticket, { level, at, until: now + forMs })
      if (this.#publish(ticket, replaced)) return
    }
  }

  /** Take over a change from a thread that may have other memory, unless a later one is here. */
  adopt(change: LevelChange): void {
    let ticket: number | undefined
    for (;;) {
      const replaced = this.version
      const here = this.change
      if (here !== undefined && here.at >= change.at) return
      ticket ??= this.#ticket()
      this.#write(ticket, change)
      if (this.#publish(ticket, replaced)) return
    }
  }

  #ticket(): number {
    return Atomics.add(this.#words, last, 1) + 1
  }

  #publish(ticket: number, replaced: number): boolean {
    return Atomics.compareExchange(this.#words, current, replaced, ticket) === replaced
  }

  #read(ticket: number): LevelChange {
    const { moments, length, name } = this.#slot(ticket)
    const [at = 0, until = 0] = moments
    const level = length[0] === 0 ? undefined : name.toString('utf8', 0, length[0])
    return { level, at, until }
  }

  #write(ticket: number, { level = '', at, until }: LevelChange): void {
    const { moments, length, name } = this.#slot(ticket)
    moments.set([at, until])
    length[0] = name.write(level)
  }

  #slot(ticket: number) {
    const at = headBytes + (ticket & (slots - 1)) * slotBytes
    return {
      moments: new Float64Array(this.#memory, at, 2),
      length: new Int32Array(this.#memory, at + 16, 1),
      name: Buffer.from(this.#memory, at + 24, maxLevelBytes),
    }
  }
}

const current = 0
const last = 1

let own: SharedLevel | undefined

/** That of the process. The first call shares it with the threads that this thread starts from then on. */
export function sharedLevel(): SharedLevel {
  own ??= new SharedLevel(sharedMemory('sluice:level.v1', bytes))
  return own
}
