import type { Severity } from '../records/level.js'
import type { Arena } from './arena.js'
import type { HeldRecord } from './record-queue.js'
import type { Place } from './store.js'

/** A record in an arena, for as long as its bytes stand there. */
export class FreshRecord implements HeldRecord {
  readonly severity: Severity
  readonly bytes: number
  readonly sequence: number
  readonly generation: number
  readonly #arena: Arena
  readonly #index: number
  #place: Place | undefined
  readonly #start: number
  readonly #keyOf: (sequence: number) => string

  constructor(arena: Arena, index: number, keyOf: (sequence: number) => string) {
    this.#arena = arena
    this.#index = index
    this.#start = arena.startOf(index)
    this.#keyOf = keyOf
    this.severity = arena.severities[index] as Severity
    this.bytes = arena.bytesOf(index)
    this.sequence = arena.sequences[index]!
    this.generation = arena.generations[index]!
    this.#place = arena.places?.[index]
  }

  get place(): Place | undefined {
    return this.#place
  }

  set place(place: Place | undefined) {
    this.#place = place
    this.#arena.setPlace(this.#index, place)
  }

  get heldBytes(): number {
    return this.bytes
  }

  get body(): string {
    return this.#arena.memory.toString('utf8', this.#start, this.#start + this.bytes)
  }

  get idempotencyKey(): string {
    return this.#keyOf(this.sequence)
  }
}
