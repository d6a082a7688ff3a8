import type { Place } from './store.js'

/** Severity of a record that has left from the middle of an arena. */
export const gone = 255

/** Largest size, but for an arena with one record that is larger. */
export const fullArenaBytes = 1_048_576
/** An arena has room for a record for each of this many bytes, so that small records fill it, too. */
const bytesPerRecord = 128
/** Bytes of the index for each record: sequence, end of the body, generation, severity. */
const indexBytes = 8 + 4 + 4 + 1

/** Sizes of the arenas of a log: small at first, because most engines hold few records. */
export const firstArenaBytes = 8192
export const growth = 4

/**
 * One piece of memory that holds the bodies of many records, one behind another, and the facts about each of them. Nothing of it is an object
 * of its own, so a record costs the garbage collector nothing.
 */
export class Arena {
  /** Bodies, and behind them room. */
  readonly memory: Buffer
  readonly capacity: number
  readonly sequences: Float64Array
  readonly ends: Uint32Array
  readonly generations: Uint32Array
  /** {@link gone} for a record that has left. */
  readonly severities: Uint8Array
  /** By index. Undefined while no record here has a place in the store. */
  places: (Place | undefined)[] | undefined
  /** Records that were written. */
  count = 0
  /** Those before this index have left. */
  head = 0
  /** Records behind `head` that have left, and their bytes. */
  holes = 0
  holeBytes = 0

  constructor(bodyBytes: number, capacity = Math.max(1, Math.ceil(bodyBytes / bytesPerRecord))) {
    const buffer = new ArrayBuffer(Math.ceil((capacity * indexBytes) / 8) * 8 + bodyBytes)
    this.capacity = capacity
    this.sequences = new Float64Array(buffer, 0, capacity)
    this.ends = new Uint32Array(buffer, capacity * 8, capacity)
    this.generations = new Uint32Array(buffer, capacity * 12, capacity)
    this.severities = new Uint8Array(buffer, capacity * 16, capacity)
    this.memory = Buffer.from(buffer, capacity * indexBytes)
  }

  /** Position behind the last body. */
  get used(): number {
    return this.count === 0 ? 0 : this.ends[this.count - 1]!
  }

  get isEmpty(): boolean {
    return this.head + this.holes === this.count
  }

  startOf(index: number): number {
    return index === 0 ? 0 : this.ends[index - 1]!
  }

  bytesOf(index: number): number {
    return this.ends[index]! - this.startOf(index)
  }

  hasRoom(bytes: number): boolean {
    return this.count < this.capacity && this.used + bytes <= this.memory.length
  }

  /** Forget all records. */
  reset(): void {
    this.count = 0
    this.head = 0
    this.holes = 0
    this.holeBytes = 0
    this.places = undefined
  }

  /** An arena of exactly the size of the records that have not left, with a copy of them. */
  compacted(): Arena {
    const copy = new Arena(this.used - this.startOf(this.head) - this.holeBytes, this.count - this.head - this.holes)
    let used = 0
    for (let index = this.head; index < this.count; index++) {
      if (this.severities[index] === gone) continue
      const to = copy.count++
      this.memory.copy(copy.memory, used, this.startOf(index), this.ends[index])
      used += this.bytesOf(index)
      copy.ends[to] = used
      copy.sequences[to] = this.sequences[index]!
      copy.generations[to] = this.generations[index]!
      copy.severities[to] = this.severities[index]!
      const place = this.places?.[index]
      if (place !== undefined) copy.setPlace(to, place)
    }
    return copy
  }

  setPlace(index: number, place: Place | undefined): void {
    if (place !== undefined) this.places ??= []
    if (this.places !== undefined) this.places[index] = place
  }
}

/** Arenas of full size that wait for their next use, shared by the engines of a thread. */
const pool: Arena[] = []
const pooled = 4

/** An arena for at least `bytes` of bodies, as large as `wanted` where that is more. */
export function openArena(wanted: number, bytes: number): Arena {
  if (bytes > fullArenaBytes) return new Arena(bytes, 1)
  if (wanted < fullArenaBytes) return new Arena(Math.max(wanted, bytes))
  return pool.pop() ?? new Arena(fullArenaBytes)
}

/** Nothing in the arena is needed any more. */
export function closeArena(arena: Arena): void {
  if (arena.memory.length !== fullArenaBytes || pool.length >= pooled) return
  arena.reset()
  pool.push(arena)
}
