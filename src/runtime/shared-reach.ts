import { sharedMemory } from './shared-memory.js'

/** A service, as all threads of the process know it. */
export interface ServiceReach {
  /** True once it has answered any of them. It stays true. */
  readonly isReached: boolean
  reached(): void
}

const places = 64

let words: Int32Array | undefined

/** Share it with the threads that this thread starts from now on. */
export function shareReach(): Int32Array {
  words ??= new Int32Array(sharedMemory('sluice:reach.v1', 4 * places))
  return words
}

/**
 * The service at this URL, in memory that threads share. It remembers 64 services: where more are in use, one that was reached may count as
 * unknown again.
 */
export function sharedReach(url: string): ServiceReach {
  const shared = shareReach()
  let hash = 0x811c9dc5
  for (let index = 0; index < url.length; index++) hash = Math.imul(hash ^ url.charCodeAt(index), 0x01000193)
  // 0 is a free place.
  hash ||= 1
  const place = (hash >>> 0) % places
  return {
    get isReached() {
      return Atomics.load(shared, place) === hash
    },
    reached: () => void Atomics.store(shared, place, hash),
  }
}
