/** Hexadecimal digits of the random part of a trace's id, by W3C Trace Context, level 2. */
const randomDigits = 14

/** Decides which lines the option `sample` leaves out. */
export class Sampler {
  readonly #shares: ReadonlyMap<string, number>
  readonly #random: () => number

  /** @param shares by name of the level in lower case: from 0, for no line, to 1, for all */
  constructor(shares: Readonly<Record<string, number>>, random: () => number = Math.random) {
    this.#shares = new Map(Object.entries(shares).filter(([, share]) => share < 1))
    this.#random = random
  }

  /** True for a level that leaves out some of its lines. */
  samples(level: string): boolean {
    return this.#shares.has(level)
  }

  /**
   * False for a line that is left out. One that is kept gets the field `sampleRate` if others of its level are left out.
   *
   * @param trace id of the trace to which the line belongs
   */
  keeps(level: string, fields: Record<string, unknown>, trace: string | undefined): boolean {
    const share = this.#shares.get(level)
    if (share === undefined) return true
    if ((trace === undefined ? this.#random() : placeOf(trace)) >= share) return false
    fields.sampleRate = share
    return true
  }
}

/**
 * A number from 0 to 1, without the 1, that is the same for all lines of a trace. Of an id of W3C Trace Context it is the random part, as
 * in OpenTelemetry's consistent probability sampling: a trace of which a service keeps 1 % is among the 25 % of another one. Ids in other
 * notations, such as Datadog's decimal numbers, have no part that is known to be random.
 */
function placeOf(trace: string): number {
  if (w3cId.test(trace)) return 1 - (Number.parseInt(trace.slice(-randomDigits), 16) + 1) / 16 ** randomDigits
  return hashOf(trace) / 2 ** 32
}

const w3cId = /^[\da-f]{32}$/i

/** FNV-1a with the last mixing step of MurmurHash3, without which similar texts have similar places. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
