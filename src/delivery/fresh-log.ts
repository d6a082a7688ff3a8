import type { Severity } from '../records/level.js'
import { type Arena, closeArena, firstArenaBytes, fullArenaBytes, gone, growth, openArena } from './arena.js'
import { FreshRecord } from './fresh-record.js'
import type { RecordBatch } from './record-batch.js'
import type { HeldRecord } from './record-queue.js'

const severities = 7
/** An arena is compacted when this share of its bytes belongs to records that have left from its middle. */
const mostHoles = 1 / 8

/** Memory in which the body of the next record is written. */
export interface BodyRoom {
  readonly memory: Buffer
  /** Position of the body. */
  readonly at: number
}

/**
 * The records of a lane that have never been sent, in order of acceptance: bytes in arenas, and no object for any of them.
 *
 *     oldest ─ │ arena │ arena │ arena │ ─ newest, room
 *
 * Records leave from the oldest end in batches. Those that leave from elsewhere, because memory is full or the most severe go first, leave
 * holes. An arena with many holes is replaced by a smaller one.
 */
export class FreshLog implements BodyRoom {
  readonly #keyOf: (sequence: number) => string
  readonly #arenas: Arena[] = []
  /** Number of the first arena. Arenas are numbered in the order in which they were opened. */
  #firstNumber = 0
  #nextBytes = firstArenaBytes
  readonly #lengths = new Float64Array(severities)
  readonly #bytes = new Float64Array(severities)
  #length = 0
  /** By severity: number of an arena, and index in it, before which there is no record of that severity. */
  readonly #cursorArenas = new Float64Array(severities)
  readonly #cursors = new Float64Array(severities)
  /** The arena and the index of the last {@link #seek}. */
  #foundIn: Arena | undefined
  #found = 0

  constructor(keyOf: (sequence: number) => string) {
    this.#keyOf = keyOf
  }

  get length(): number {
    return this.#length
  }

  lengthOf(severity: Severity): number {
    return this.#lengths[severity]!
  }

  bytesOf(severity: Severity): number {
    return this.#bytes[severity]!
  }

  get memory(): Buffer {
    return this.#newest!.memory
  }

  get at(): number {
    return this.#newest!.used
  }

  /** Make room for a body of at most this many bytes: write it, {@link stage} it, then {@link commit} it. */
  room(bytes: number): BodyRoom {
    const newest = this.#newest
    if (newest?.hasRoom(bytes)) return this
    if (newest?.isEmpty) {
      // An arena that was emptied serves again. In an idle lane it is always the same one.
      newest.reset()
      this.#rewind(this.#arenas.length - 1)
      if (newest.hasRoom(bytes)) return this
      this.#arenas.pop()
      closeArena(newest)
    }
    this.#arenas.push(openArena(this.#nextBytes, bytes))
    this.#nextBytes = Math.min(this.#nextBytes * growth, fullArenaBytes)
    return this
  }

  /** Write down the facts about the record whose body was written into the room. It takes no object: every record comes by here. */
  stage(bytes: number, severity: Severity, sequence: number, generation: number): void {
    const arena = this.#newest!
    const index = arena.count
    arena.ends[index] = arena.used + bytes
    arena.sequences[index] = sequence
    arena.generations[index] = generation
    arena.severities[index] = severity
  }

  /** The staged record, before it is committed. */
  get staged(): HeldRecord {
    const arena = this.#newest!
    return new FreshRecord(arena, arena.count, this.#keyOf)
  }

  /** Add the staged record. */
  commit(): void {
    const arena = this.#newest!
    const severity = arena.severities[arena.count]!
    const bytes = arena.bytesOf(arena.count)
    arena.count++
    this.#length++
    this.#lengths[severity]!++
    this.#bytes[severity]! += bytes
  }

  /** Sequence of the oldest record; infinity without one. */
  get oldest(): number {
    if (this.#length === 0) return Number.POSITIVE_INFINITY
    const arena = this.#first()
    return arena.sequences[arena.head]!
  }

  /** Sequence of the newest record; minus infinity without one. */
  get newest(): number {
    return this.#seekNewest() ? this.#foundIn!.sequences[this.#found]! : Number.NEGATIVE_INFINITY
  }

  /** Sequence of the oldest record of a severity; infinity without one. */
  oldestOf(severity: Severity): number {
    return this.#seek(severity) ? this.#foundIn!.sequences[this.#found]! : Number.POSITIVE_INFINITY
  }

  /** Move the oldest records into a batch, until it has `most` or is full. None are moved that came after the record `before`. */
  cut(batch: RecordBatch, most: number, before = Number.POSITIVE_INFINITY): void {
    while (this.#length > 0 && batch.length < most) {
      const arena = this.#first()
      const from = arena.head
      let to = from
      const end = Math.min(arena.count, from + most - batch.length)
      const start = arena.startOf(from)
      while (to < end && arena.severities[to] !== gone && arena.sequences[to]! < before) {
        if (!batch.fits(arena.ends[to]! - start, to - from)) break
        to++
      }
      if (to === from) return
      batch.addRun(arena, from, to)
      for (let index = from; index < to; index++) this.#uncount(arena, index)
      arena.head = to
      this.#tidyFirst()
    }
    if (this.#length === 0) this.#giveBack()
  }

  /** Take the oldest record. The result is valid until the next record is added. */
  takeOldest(): HeldRecord | undefined {
    if (this.#length === 0) return undefined
    const arena = this.#first()
    return this.#take(arena, arena.head)
  }

  takeOldestOf(severity: Severity): HeldRecord | undefined {
    return this.#seek(severity) ? this.#take(this.#foundIn!, this.#found) : undefined
  }

  takeNewest(): HeldRecord | undefined {
    return this.#seekNewest() ? this.#take(this.#foundIn!, this.#found) : undefined
  }

  /** Visit at most `most` records, the least severe first. Those for which `leaves` returns true are removed. */
  visit(most: number, leaves: (record: HeldRecord) => boolean): void {
    let left = Math.min(most, this.#length)
    for (let severity = 0; severity < severities && left > 0; severity++) {
      if (this.#lengths[severity] === 0) continue
      for (const arena of [...this.#arenas]) {
        for (let index = arena.head; index < arena.count && left > 0; index++) {
          if (arena.severities[index] !== severity) continue
          left--
          const record = new FreshRecord(arena, index, this.#keyOf)
          if (leaves(record)) this.#hole(arena, index)
        }
      }
    }
    if (this.#arenas.length > 0) this.#tidyFirst()
    for (const arena of this.#arenas.slice(1)) this.#tidy(arena)
  }

  get #newest(): Arena | undefined {
    return this.#arenas[this.#arenas.length - 1]
  }

  /** The arena of the oldest record. There is one. */
  #first(): Arena {
    return this.#arenas[0]!
  }

  #take(arena: Arena, index: number): HeldRecord {
    const record = new FreshRecord(arena, index, this.#keyOf)
    this.#hole(arena, index)
    this.#tidy(arena)
    return record
  }

  #uncount(arena: Arena, index: number): void {
    const severity = arena.severities[index]!
    this.#length--
    this.#lengths[severity]!--
    this.#bytes[severity]! -= arena.bytesOf(index)
  }

  #hole(arena: Arena, index: number): void {
    this.#uncount(arena, index)
    arena.severities[index] = gone
    arena.holes++
    arena.holeBytes += arena.bytesOf(index)
  }

  /** Records have left the arena: give it up, or compact it, where that is worth while. */
  #tidy(arena: Arena): void {
    if (arena === this.#arenas[0]) {
      this.#tidyFirst()
      return
    }
    if (arena === this.#newest || arena.holeBytes < arena.used * mostHoles) return
    const position = this.#arenas.indexOf(arena)
    this.#arenas[position] = arena.compacted()
    this.#rewind(position)
    closeArena(arena)
  }

  /** All records have left: an arena of full size may serve another engine. */
  #giveBack(): void {
    const arena = this.#arenas[0]
    if (arena === undefined || arena.memory.length < fullArenaBytes) return
    this.#arenas.length = 0
    this.#firstNumber++
    closeArena(arena)
  }

  /** Move the head behind holes, and give up arenas at the oldest end that are empty. */
  #tidyFirst(): void {
    for (;;) {
      const arena = this.#arenas[0]!
      while (arena.head < arena.count && arena.severities[arena.head] === gone) {
        arena.holes--
        arena.holeBytes -= arena.bytesOf(arena.head)
        arena.head++
      }
      if (arena.head < arena.count || this.#arenas.length === 1) return
      this.#arenas.shift()
      this.#firstNumber++
      closeArena(arena)
    }
  }

  #seek(severity: Severity): boolean {
    if (this.#lengths[severity] === 0) return false
    let position = this.#cursorArenas[severity]! - this.#firstNumber
    let index = this.#cursors[severity]!
    if (position < 0) {
      position = 0
      index = 0
    }
    for (; ; position++, index = 0) {
      const arena = this.#arenas[position]!
      if (index < arena.head) index = arena.head
      while (index < arena.count && arena.severities[index] !== severity) index++
      if (index === arena.count) continue
      this.#cursorArenas[severity] = this.#firstNumber + position
      this.#cursors[severity] = index
      this.#foundIn = arena
      this.#found = index
      return true
    }
  }

  #seekNewest(): boolean {
    if (this.#length === 0) return false
    for (let position = this.#arenas.length - 1; ; position--) {
      const arena = this.#arenas[position]!
      for (let index = arena.count - 1; index >= arena.head; index--) {
        if (arena.severities[index] === gone) continue
        this.#foundIn = arena
        this.#found = index
        return true
      }
    }
  }

  /** The indexes of an arena have changed: look for its records from the beginning. */
  #rewind(position: number): void {
    const number = this.#firstNumber + position
    for (let severity = 0; severity < severities; severity++) {
      if (this.#cursorArenas[severity] === number) this.#cursors[severity] = 0
    }
  }
}
