import type { Bell, BellMaker } from '../../src/control/bell.js'

/** A bell within one thread: a ring calls the tasks. Nothing can change while somebody waits. */
export class DirectBell implements Bell {
  readonly #tasks = new Set<() => void>()

  ring(): void {
    for (const task of [...this.#tasks]) task()
  }

  heard(task: () => void): () => void {
    this.#tasks.add(task)
    return () => void this.#tasks.delete(task)
  }

  wait(condition: () => boolean): boolean {
    return condition()
  }
}

/** A ring calls the tasks. While this thread waits, the others work. */
class CalledBell extends DirectBell {
  readonly #meanwhile: () => void

  constructor(meanwhile: () => void) {
    super()
    this.#meanwhile = meanwhile
  }

  override wait(condition: () => boolean): boolean {
    if (condition()) return true
    this.#meanwhile()
    return condition()
  }
}

/**
 * Bells within one thread, which plays all of them: whoever names the same word of the same memory has the same bell.
 *
 * @param meanwhile what the other threads do while one waits @default nothing
 */
export function calledBells(meanwhile: () => void = () => {}): BellMaker {
  const bells = new WeakMap<ArrayBufferLike, Map<number, DirectBell>>()
  return ({ buffer, byteOffset, BYTES_PER_ELEMENT }, word) => {
    const ofBuffer = bells.get(buffer) ?? new Map<number, DirectBell>()
    bells.set(buffer, ofBuffer)
    const at = byteOffset + word * BYTES_PER_ELEMENT
    const bell = ofBuffer.get(at) ?? new CalledBell(meanwhile)
    ofBuffer.set(at, bell)
    return bell
  }
}
