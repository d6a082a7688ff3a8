import { isOdd, isPlain } from './plain-bytes.js'

const none = Buffer.alloc(0)

/** The bytes of lines, and the memory that takes what is made of them. */
export class LineBuffers {
  lines: Buffer = none
  memory: Buffer = none
  /** The lines and the memory, four bytes at a time. */
  source: DataView = viewOf(none)
  target: DataView = this.source

  /** Sets both. They stay in use until the next call. */
  open(lines: Buffer, memory: Buffer): void {
    if (lines !== this.lines) {
      this.lines = lines
      this.source = viewOf(lines)
    }
    if (memory !== this.memory) {
      this.memory = memory
      this.target = viewOf(memory)
    }
  }

  /** Copies bytes that stand for themselves in a text. Returns their number. */
  copyPlain(from: number, last: number, place: number): number {
    const { lines, memory, source, target } = this
    let at = from
    let to = place
    for (; at + 4 <= last; at += 4, to += 4) {
      const four = source.getInt32(at, true)
      if (isOdd(four)) break
      target.setInt32(to, four, true)
    }
    for (; at < last; at++, to++) {
      const byte = lines[at]!
      if (!isPlain(byte)) break
      memory[to] = byte
    }
    return at - from
  }

  /** Copies bytes as they are. */
  copy(from: number, end: number, place: number): void {
    const { lines, memory, source, target } = this
    let at = from
    let to = place
    for (; at + 4 <= end; at += 4, to += 4) target.setInt32(to, source.getInt32(at, true), true)
    for (; at < end; at++) memory[to++] = lines[at]!
  }
}

export function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
}
