/**
 * Random numbers that come again with the same seed (mulberry32).
 *
 * @param {number} seed
 */
export function randomNumbers(seed) {
  let state = seed >>> 0
  return {
    /** A whole number from 0 to below `end`. @param {number} end */
    below(end) {
      state = (state + 0x6d2b79f5) >>> 0
      let mixed = state
      mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
      return ((mixed ^ (mixed >>> 14)) >>> 0) % end
    },
  }
}

/** Characters that separate and surround. */
const structure = ' \t.,:;-+/"\'{}[]()<>=&?#@*_'

/** Texts that many readers treat in a special way. */
const specialTexts = [
  ...['0', '-1', '1e400', '2147483648', '4294967296', '9007199254740993', '18446744073709551616', '00', '0x10', 'NaN'],
  ...[
    '\r\n',
    '\n',
    '\r\n\r\n',
    '\0',
    '\u001b[31m',
    '\u009b',
    '\u2028',
    '\ufeff',
    '\u202e',
    '\ud83d\ude00',
    '__proto__',
  ],
  ...['{}', '[]', '{"', '":', ',"', '\\u0000', '\\ud800', '\\', '"', '%00', '%', '../', 'null', 'true', 'constructor'],
]
const invalidBytes = [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xf0, 0x9f]].map((bytes) => Buffer.from(bytes))
const mostSteps = 6

/**
 * Changes inputs at random: bits, bytes, pieces, digits, words, and pieces of other inputs.
 *
 * @param {{ random: ReturnType<typeof randomNumbers>, words: readonly string[], maxBytes: number }} plan
 */
export function mutator({ random, words, maxBytes }) {
  const dictionary = [...specialTexts, ...words].map((word) => Buffer.from(word)).concat(invalidBytes)
  const { below } = random
  const pick = (/** @type {readonly any[]} */ list) => list[below(list.length)]
  const cut = (
    /** @type {Buffer} */ input,
    /** @type {number} */ from,
    /** @type {number} */ to,
    /** @type {Buffer[]} */ ...between
  ) => Buffer.concat([input.subarray(0, from), ...between, input.subarray(to)])
  // Most formats are text.
  const byte = () => {
    const kind = below(3)
    if (kind === 0) return below(256)
    return kind === 1 ? 0x20 + below(95) : structure.charCodeAt(below(structure.length))
  }
  const place = (/** @type {Buffer} */ input) => below(input.length + 1)
  /** @param {Buffer} input @returns {[number, number]} */
  const range = (input) => {
    const from = place(input)
    return [from, Math.min(input.length, from + 1 + below(below(2) === 0 ? 8 : Math.max(1, input.length)))]
  }
  /** @type {((input: Buffer, other: Buffer) => Buffer)[]} */
  const steps = [
    (input) => {
      const changed = Buffer.from(input)
      const at = below(Math.max(1, changed.length))
      changed[at] = (changed[at] ?? 0) ^ (1 << below(8))
      return changed
    },
    (input) => {
      const changed = Buffer.from(input)
      if (changed.length > 0) changed[below(changed.length)] = byte()
      return changed
    },
    (input) => {
      const at = place(input)
      return cut(input, at, at, Buffer.from(Array.from({ length: below(2) === 0 ? 1 : 2 + below(7) }, byte)))
    },
    (input) => cut(input, ...range(input)),
    (input) => {
      const [from, to] = range(input)
      const at = place(input)
      const times = below(8) === 0 ? 1 + below(64) : 1
      return cut(input, at, at, ...new Array(times).fill(input.subarray(from, to)))
    },
    (input) => {
      const at = place(input)
      return cut(input, at, at, pick(dictionary))
    },
    (input) => cut(input, ...range(input), pick(dictionary)),
    (input) => {
      const digits = [...input].flatMap((byte, at) => (byte >= 0x30 && byte <= 0x39 ? [at] : []))
      if (digits.length === 0) return input
      const changed = Buffer.from(input)
      changed[pick(digits)] = 0x30 + below(10)
      return changed
    },
    (input, other) => cut(input, ...range(input), other.subarray(...range(other))),
    (input, other) => cut(input, place(input), input.length, other.subarray(place(other))),
  ]
  return (/** @type {Buffer} */ input, /** @type {Buffer} */ other) => {
    let changed = input
    for (let left = 1 + below(mostSteps); left > 0; left--) changed = pick(steps)(changed, other).subarray(0, maxBytes)
    return changed
  }
}
