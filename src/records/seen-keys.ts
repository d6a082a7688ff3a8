/** More keys than this at a time are left to the parser: each key is compared with those before it in its object. */
const maxKeys = 64

/** The keys of the open objects of a line, outermost first. */
export class SeenKeys {
  count = 0
  readonly #ids = new Int32Array(maxKeys)
  readonly #starts = new Int32Array(maxKeys)
  readonly #lengths = new Int32Array(maxKeys)

  /**
   * Adds a key.
   *
   * @param first number of the first key of the same object
   * @returns its {@link keyId}; -1 for a key that the object has already, or one too many
   */
  add(bytes: Uint8Array, start: number, end: number, first: number): number {
    const id = keyId(bytes, start, end)
    const { count } = this
    if (count === maxKeys) return -1
    for (let key = first; key < count; key++) {
      if (this.#ids[key] === id && this.#isAt(key, bytes, start, end - start)) return -1
    }
    this.#ids[count] = id
    this.#starts[count] = start
    this.#lengths[count] = end - start
    this.count = count + 1
    return id
  }

  #isAt(key: number, bytes: Uint8Array, start: number, length: number): boolean {
    if (this.#lengths[key] !== length) return false
    const other = this.#starts[key]!
    for (let index = 0; index < length; index++) if (bytes[other + index] !== bytes[start + index]) return false
    return true
  }
}

/** A whole number from 0 on that differs for most keys: length, first, middle and last byte. */
export function keyId(bytes: Uint8Array, start: number, end: number): number {
  if (start === end) return 0
  const middle = bytes[(start + end) >>> 1]!
  return ((end - start) & 0x7f) | (bytes[start]! << 7) | (middle << 15) | ((bytes[end - 1]! & 0x7f) << 23)
}
