/** Text that is gathered before it is encoded: short enough to be in the processor's cache still, long enough to be worth a call. */
const gatheredLength = 4096
/** Memory that is taken at a time, for many texts: the pieces handed over are parts of it. The first slab is small, each next one larger. */
const maxSlabBytes = 65_536
const firstSlabBytes = 4096
/** Of UTF-8, for a UTF-16 code unit. */
const maxBytesPerUnit = 3

/**
 * Text on its way to another thread, gathered between one hand-over and the next, and kept as bytes outside the heap: text that
 * waits would be moved about by the garbage collector. A slab of memory lives as long as the last piece that was taken from it.
 */
export class OutgoingText {
  #gathered = ''
  #slabBytes = firstSlabBytes
  #slab = Buffer.alloc(0)
  #start = 0
  #end = 0

  /** Bytes, as far as it is encoded; else characters. */
  get length(): number {
    return this.#end - this.#start + this.#gathered.length
  }

  append(text: string): void {
    this.#gathered += text
    if (this.#gathered.length > gatheredLength) this.#encode()
  }

  /** All that has come, in one piece, and be empty. */
  take(): Buffer {
    this.#encode()
    const piece = this.#slab.subarray(this.#start, this.#end)
    this.#start = this.#end
    return piece
  }

  /** Give the memory back; more is taken when something is appended. */
  release(): void {
    this.#slab = Buffer.alloc(0)
    this.#start = 0
    this.#end = 0
  }

  #encode(): void {
    const text = this.#gathered
    this.#gathered = ''
    const most = text.length > gatheredLength * 2 ? Buffer.byteLength(text) : text.length * maxBytesPerUnit
    if (this.#end + most > this.#slab.length) this.#renew(most)
    this.#end += this.#slab.write(text, this.#end)
  }

  /** A slab with room for so many bytes after those that wait. */
  #renew(room: number): void {
    const waiting = this.#slab.subarray(this.#start, this.#end)
    this.#slab = Buffer.allocUnsafeSlow(Math.max(this.#slabBytes, waiting.length + room))
    this.#slabBytes = Math.min(maxSlabBytes, this.#slabBytes * 2)
    this.#end = waiting.copy(this.#slab)
    this.#start = 0
  }
}
