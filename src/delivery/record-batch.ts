import type { KeyWriter } from '../log/idempotency-key.js'
import type { Severity } from '../records/level.js'
import type { Arena } from './arena.js'
import { type Pending, pendingRecord } from './record-queue.js'
import type { Outgoing } from './sender.js'
import type { Place } from './store.js'

const firstMemoryBytes = 4096
const firstCapacity = 8
/** Most records in one batch on one connection. The number in use adapts to the service. */
export const maxBatch = 256
/** Most bytes of bodies in one batch. A single record may be longer. */
const maxBatchBytes = 262_144

/**
 * The records of one batch as bytes: their bodies stand one behind another at the beginning of `memory`. A batch is used again for the next
 * records, so that sending allocates nothing.
 */
export class RecordBatch {
  readonly #keys: KeyWriter
  #memory: Buffer = Buffer.alloc(0)
  #length = 0
  #used = 0
  /** By index, with room for more records: ends of the bodies, and the facts about each record. */
  #ends = new Uint32Array(firstCapacity)
  #sequences = new Float64Array(firstCapacity)
  #generations = new Uint32Array(firstCapacity)
  #severities = new Uint8Array(firstCapacity)
  /** By index: records that were objects before. Undefined while there are none. */
  #records: (Pending | undefined)[] | undefined
  /** Length of the longest key among these. */
  #mostOwnKeyBytes = 0
  /** By index. Undefined while no record has a place in the store. */
  #places: (Place | undefined)[] | undefined

  constructor(keys: KeyWriter) {
    this.#keys = keys
  }

  get length(): number {
    return this.#length
  }

  /** Bytes of the memory that it keeps. */
  get memoryBytes(): number {
    return this.#memory.length
  }

  /** True when none of its records was an object, and none has a place in the store. */
  get isPlain(): boolean {
    return this.#records === undefined && this.#places === undefined
  }

  bytesOf(index: number): number {
    return this.#ends[index]! - this.#startOf(index)
  }

  copyRun(index: number, count: number, memory: Buffer, at: number): number {
    return at + this.#memory.copy(memory, at, this.#startOf(index), this.#ends[index + count - 1])
  }

  /** Bytes of `count` bodies. */
  bytesFrom(index: number, count: number): number {
    return this.#ends[index + count - 1]! - this.#startOf(index)
  }

  generationOf(index: number): number {
    return this.#generations[index]!
  }

  /** The record as the object that it was before; undefined where it was none. */
  objectAt(index: number): Pending | undefined {
    return this.#records?.[index]
  }

  placeOf(index: number): Place | undefined {
    return this.#places?.[index]
  }

  writeKey(index: number, memory: Buffer, at: number): number {
    const record = this.#records?.[index]
    if (record !== undefined) return at + memory.write(record.idempotencyKey, at, 'latin1')
    return this.#keys.write(this.#sequences[index]!, memory, at)
  }

  get mostKeyBytes(): number {
    return Math.max(this.#keys.mostBytes, this.#mostOwnKeyBytes)
  }

  isKey(index: number, text: string): boolean {
    const record = this.#records?.[index]
    return record === undefined ? this.#keys.isKey(this.#sequences[index]!, text) : record.idempotencyKey === text
  }

  /** The record as an object, which has one attempt more. */
  take(index: number): Pending {
    const record = this.#records?.[index]
    if (record !== undefined) return record
    const severity = this.#severities[index] as Severity
    const about = { sequence: this.#sequences[index]!, generation: this.#generations[index]!, attempts: 1 }
    return pendingRecord({ ...this.textOf(index), severity, place: this.placeOf(index) }, about)
  }

  /** The record with its body as text. */
  textOf(index: number): Outgoing {
    const record = this.#records?.[index]
    if (record !== undefined) return record
    const from = this.#startOf(index)
    const to = this.#ends[index]!
    const body = this.#memory.toString('utf8', from, to)
    return { body, bytes: to - from, idempotencyKey: this.#keys.textOf(this.#sequences[index]!) }
  }

  /** True where bodies of so many bytes may be added, behind those of `records` others that are about to be added with them. */
  fits(bytes: number, records = 0): boolean {
    return this.#used + bytes <= maxBatchBytes || this.#length + records === 0
  }

  /** Remove all records. */
  clear(): void {
    this.#length = 0
    this.#used = 0
    this.#records = undefined
    this.#places = undefined
    this.#mostOwnKeyBytes = 0
  }

  /** Add a record that is an object. */
  add(record: Pending): void {
    const index = this.#addText(record)
    this.#sequences[index] = record.sequence
    this.#generations[index] = record.generation
    this.#severities[index] = record.severity
    this.#records ??= []
    this.#records[index] = record
    this.#mostOwnKeyBytes = Math.max(this.#mostOwnKeyBytes, record.idempotencyKey.length)
    if (record.place === undefined) return
    this.#places ??= []
    this.#places[index] = record.place
  }

  /** Add the records of an arena from one index up to another. None of them has left. */
  addRun(arena: Arena, from: number, to: number): void {
    const count = to - from
    const first = this.#length
    const start = arena.startOf(from)
    const end = arena.ends[to - 1]!
    this.#reserve(this.#used + end - start)
    arena.memory.copy(this.#memory, this.#used, start, end)
    this.#hold(first + count)
    this.#sequences.set(arena.sequences.subarray(from, to), first)
    this.#generations.set(arena.generations.subarray(from, to), first)
    this.#severities.set(arena.severities.subarray(from, to), first)
    const shift = this.#used - start
    for (let offset = 0; offset < count; offset++) this.#ends[first + offset] = arena.ends[from + offset]! + shift
    if (arena.places !== undefined) {
      this.#places ??= []
      for (let offset = 0; offset < count; offset++) this.#places[first + offset] = arena.places[from + offset]
    }
    this.#length += count
    this.#used += end - start
  }

  /** Returns the index of the new record. */
  #addText({ body, bytes }: Outgoing): number {
    const index = this.#length
    this.#reserve(this.#used + bytes)
    this.#memory.write(body, this.#used)
    this.#hold(index + 1)
    this.#used += bytes
    this.#ends[index] = this.#used
    this.#length++
    return index
  }

  #startOf(index: number): number {
    return index === 0 ? 0 : this.#ends[index - 1]!
  }

  /** Make room for so many bytes of bodies. */
  #reserve(bytes: number): void {
    if (bytes <= this.#memory.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(bytes, firstMemoryBytes, 2 * this.#memory.length))
    this.#memory.copy(larger, 0, 0, this.#used)
    this.#memory = larger
  }

  /** Make room for so many records. */
  #hold(records: number): void {
    if (records <= this.#ends.length) return
    const capacity = Math.max(records, 2 * this.#ends.length)
    this.#ends = copied(new Uint32Array(capacity), this.#ends)
    this.#sequences = copied(new Float64Array(capacity), this.#sequences)
    this.#generations = copied(new Uint32Array(capacity), this.#generations)
    this.#severities = copied(new Uint8Array(capacity), this.#severities)
  }
}

function copied<Numbers extends Uint8Array | Uint32Array | Float64Array>(to: Numbers, from: Numbers): Numbers {
  to.set(from)
  return to
}
