const quote = '"'.charCodeAt(0)
const comma = ','.charCodeAt(0)
const minus = '-'.charCodeAt(0)
const point = '.'.charCodeAt(0)
const zero = '0'.charCodeAt(0)
const nine = '9'.charCodeAt(0)
const closeBracket = ']'.charCodeAt(0)
const smallA = 'a'.charCodeAt(0)
const smallE = 'e'.charCodeAt(0)
const closeBrace = '}'.charCodeAt(0)
const trueWord = Buffer.from('true').readInt32LE()
const nullWord = Buffer.from('null').readInt32LE()
/** The first four letters of false. */
const falsWord = Buffer.from('fals').readInt32LE()
/** A number with up to this many digits is exact: JavaScript writes it with the same digits. */
const exactDigits = 15
const backslash = '\\'.charCodeAt(0)

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

  /**
   * Copies bytes that stand for themselves in a text, up to `last`, and a few bytes more. Returns the number of those bytes; it may be
   * larger where bytes behind `last` are such, too.
   */
  copyPlain(from: number, last: number, place: number): number {
    const { source, target } = this
    const bound = this.lines.length - 4
    let at = from
    let to = place
    for (; at <= bound && at < last; at += 4, to += 4) {
      const four = source.getInt32(at, true)
      target.setInt32(to, four, true)
      const odd = oddBits(four)
      // The lowest bit belongs to the first odd byte. Higher ones may be wrong.
      if (odd !== 0) return at - from + ((31 - Math.clz32(odd & -odd)) >> 3)
    }
    return at - from + this.#copyEnd(at, last, to)
  }

  /** For the last few bytes. Apart, so that V8 can put the function above in the place of its calls. */
  #copyEnd(from: number, last: number, place: number): number {
    let at = from
    let to = place
    for (; at < last && isPlain(this.lines[at]!); at++, to++) this.memory[to] = this.lines[at]!
    return at - from
  }

  /**
   * Copies true, false, null, or a number that JavaScript certainly writes with the same digits. A few more bytes may be copied.
   *
   * @returns its length; 0 for any other value
   */
  copyScalar(start: number, last: number, place: number): number {
    const { lines, memory, source, target } = this
    const first = lines[start]!
    if (first >= smallA) {
      if (start + 5 > last) return 0
      const four = source.getInt32(start, true)
      target.setInt32(place, four, true)
      if (four === trueWord || four === nullWord) return 4
      memory[place + 4] = smallE
      return four === falsWord && lines[start + 4] === smallE ? 5 : 0
    }
    let at = start
    let to = place
    let byte = first
    if (byte === minus) {
      memory[to++] = byte
      byte = lines[++at]!
    }
    const digitsAt = at
    while (byte >= zero && byte <= nine && at < last) {
      memory[to++] = byte
      byte = lines[++at]!
    }
    const whole = at - digitsAt
    const startsWithZero = lines[digitsAt] === zero
    if (whole === 0 || whole > exactDigits || (startsWithZero && whole > 1)) return 0
    if (byte === point) {
      memory[to++] = byte
      byte = lines[++at]!
      const fractionAt = at
      while (byte >= zero && byte <= nine && at < last) {
        memory[to++] = byte
        byte = lines[++at]!
      }
      const fraction = at - fractionAt
      if (fraction === 0 || fraction + whole > exactDigits || lines[at - 1] === zero) return 0
      // Small numbers have an exponent.
      if (startsWithZero && fraction > 6) return 0
    } else if (startsWithZero && digitsAt > start) return 0
    return byte === comma || byte === closeBrace || byte === closeBracket ? at - start : 0
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

function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
}

/** True for a byte that stands for itself within a text of JSON. */
function isPlain(byte: number): boolean {
  return byte >= 0x20 && byte !== quote && byte !== backslash
}

/** The highest bit of each byte that is a quote, a backslash or a control character; 0 if none of the four is. */
function oddBits(four: number): number {
  const quotes = four ^ 0x22222222
  const backslashes = four ^ 0x5c5c5c5c
  return (
    (((quotes - 0x01010101) & ~quotes) | ((backslashes - 0x01010101) & ~backslashes) | ((four - 0x20202020) & ~four)) &
    -0x7f7f7f80
  )
}
