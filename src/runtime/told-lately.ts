import { sharedMemory } from './shared-memory.js'

const places = 64
const quietS = 60

let memory: BigInt64Array | undefined

/** At each place a text's hash, and the second since 1970 in which it was told. */
function told(): BigInt64Array {
  memory ??= new BigInt64Array(sharedMemory('sluice:told', 8 * places))
  return memory
}

/** Make what was told known to the workers that this thread will start. */
export function shareTold(): void {
  told()
}

/**
 * Whether nobody in the process has told this within the last minute: several engines meet with the same trouble, each in a thread of
 * its own. Of two that ask at once one is told yes.
 */
export function isNews(text: string, now = Date.now()): boolean {
  const hash = hashOf(text)
  const second = BigInt(Math.floor(now / 1000))
  const place = Number(hash % BigInt(places))
  const before = Atomics.load(told(), place)
  const isOld = Math.abs(Number(second - (before & secondMask))) >= quietS
  if (before >> secondBits === hash && !isOld) return false
  return Atomics.compareExchange(told(), place, before, (hash << secondBits) | second) === before
}

const secondBits = 33n
const secondMask = (1n << secondBits) - 1n

/** FNV-1a, cut to 30 bits. */
function hashOf(text: string): bigint {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return BigInt(hash >>> 2)
}
