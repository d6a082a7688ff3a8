/** Ids begin with this time: 2024-01-01 in UTC. Before 2058-11 they are whole numbers of JavaScript. */
const beginMs = 1_704_067_200_000
/** Ids in one millisecond: those of all writers, and those of one. */
const idsPerMs = 8192
const idsPerWriter = 128

/** So many writers can use one database at once. */
export const writerSlots = idsPerMs / idsPerWriter

const dayMs = 86_400_000

/** Days since 1970, in UTC. */
export function dayOf(ms: number): number {
  return Math.floor(ms / dayMs)
}

/** The smallest id of a time. */
export function firstIdOf(ms: number): number {
  return (ms - beginMs) * idsPerMs
}

/** The time of an id, in ms since 1970. */
export function msOfId(id: number): number {
  return Math.floor(id / idsPerMs) + beginMs
}

/** The slot of the writer that has made the id. */
export function slotOfId(id: number): number {
  return Math.floor((id % idsPerMs) / idsPerWriter)
}

/** SQL for the slot of the writer of an id. */
export function sqlSlotOf(id: string): string {
  return `${id} % ${idsPerMs} / ${idsPerWriter}`
}

/**
 * Makes the ids of one writer: the time, the slot of the writer, and a number within the millisecond. They rise, also where the clock goes back. The
 * order of all ids is that of time, as far as the clocks of the writers agree: all of them take it from the database.
 */
export class RecordIds {
  readonly #nowMs: () => number
  #slot: number
  #lastMs = 0
  #next = 0

  /** @param nowMs time since 1970, in whole ms */
  constructor({ slot, nowMs }: { readonly slot: number; readonly nowMs: () => number }) {
    this.#slot = slot
    this.#nowMs = nowMs
  }

  /** Another slot: no other writer makes its ids. */
  set slot(slot: number) {
    this.#slot = slot
  }

  take(): number {
    const now = this.#nowMs()
    if (now > this.#lastMs) {
      this.#lastMs = now
      this.#next = 0
    } else if (this.#next === idsPerWriter) {
      // The rest comes from the next millisecond, which may not have begun.
      this.#lastMs++
      this.#next = 0
    }
    return (this.#lastMs - beginMs) * idsPerMs + this.#slot * idsPerWriter + this.#next++
  }
}
