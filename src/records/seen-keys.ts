/** Keys whose values are hidden. */
export interface HiddenKeys {
  /** @param id the key's {@link keyId} */
  hides(id: number, bytes: Buffer, start: number, end: number): boolean
}

/** More keys than this at a time are left to the parser: each key may be compared with those before it in its object. */
const maxKeys = 64

/** The keys of the open objects of a line, outermost first. */
export class SeenKeys {
  /** Number of the keys. An object that ends sets it back. */
  count = 0
  readonly #ids = new Int32Array(maxKeys)
  readonly #starts = new Int32Array(maxKeys)
  /** A bit for the id of each key. */
  #bits = 0
  readonly #hidden: HiddenKeys | undefined

  /** @param hidden such keys are refused @default none is */
  constructor(hidden?: HiddenKeys) {
    this.#hidden = hidden
  }

  clear(): void {
    this.count = 0
    this.#bits = 0
  }

  /**
   * Adds a key.
   *
   * @param first number of the first key of the same object
   * @returns its {@link keyId}; -1 for a key that the object has already, one that is hidden, or one too many
   */
  add(bytes: Buffer, start: number, end: number, first: number): number {
    const id = keyId(bytes, start, end)
    const { count } = this
    if (count === maxKeys || this.#hidden?.hides(id, bytes, start, end)) return -1
    const bit = 1 << ((id ^ (id >>> 7) ^ (id >>> 15)) & 31)
    if ((this.#bits & bit) !== 0 && this.#has(id, bytes, start, first)) return -1
    this.#bits |= bit
    this.#ids[count] = id
    this.#starts[count] = start
    this.count = count + 1
    return id
  }

  #has(id: number, bytes: Uint8Array, start: number, first: number): boolean {
    for (let key = first; key < this.count; key++) {
      if (this.#ids[key] === id && areEqual(bytes, this.#starts[key]!, start)) return true
    }
    return false
  }
}

/** A whole number from 0 on that is equal for equal keys: first and last byte, and the length. */
export function keyId(bytes: Uint8Array, start: number, end: number): number {
  return start === end ? 0 : bytes[start]! | (bytes[end - 1]! << 8) | (((end - start) & 0x7fff) << 16)
}

/** A number below 256 for an id. */
export function hashOf(id: number): number {
  return (id ^ (id >>> 7) ^ (id >>> 13)) & 0xff
}

/** True for keys that are equal up to their quote. */
function areEqual(bytes: Uint8Array, first: number, second: number): boolean {
  let at = 0
  while (bytes[first + at] === bytes[second + at] && bytes[first + at] !== quote) at++
  return bytes[first + at] === bytes[second + at]
}

const quote = '"'.charCodeAt(0)
