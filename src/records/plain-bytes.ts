import { isDigit } from './plain-fields.js'

/** Codes of the bytes that JSON gives a meaning. */
export const space = 0x20
export const quote = 0x22
export const plus = 0x2b
export const comma = 0x2c
export const minus = 0x2d
export const point = 0x2e
export const zero = 0x30
export const colon = 0x3a
export const openBracket = 0x5b
export const backslash = 0x5c
export const closeBracket = 0x5d
export const exponent = 0x65
export const openBrace = 0x7b
export const closeBrace = 0x7d
export const lineFeed = 0x0a

/** True for four bytes of which at least one is a quote, a backslash or a control character. */
export function isOdd(four: number): boolean {
  const quotes = four ^ 0x22222222
  const backslashes = four ^ 0x5c5c5c5c
  const odd =
    ((quotes - 0x01010101) & ~quotes) | ((backslashes - 0x01010101) & ~backslashes) | ((four - 0x20202020) & ~four)
  return (odd & 0x80808080) !== 0
}

/** True for a byte that stands for itself within a text of JSON. */
export function isPlain(byte: number): boolean {
  return byte >= 0x20 && byte !== quote && byte !== backslash
}

/** True for a byte that may stand in a number. */
export function isOfNumber(byte: number): boolean {
  return isDigit(byte) || byte === point || byte === exponent || byte === minus || byte === plus
}

const shortEscapes = new Uint8Array(256)
for (const byte of Buffer.from('"\\bfnrt')) shortEscapes[byte] = 1

/** Length of the escape at this position; 0 for one that `JSON.stringify` does not write, or not in this form. */
export function escapeLength(bytes: Uint8Array, at: number): number {
  const second = bytes[at + 1]!
  if (shortEscapes[second] === 1) return 2
  if (second !== 0x75 || bytes[at + 2] !== zero || bytes[at + 3] !== zero) return 0
  const sixteens = bytes[at + 4]! - zero
  const last = bytes[at + 5]!
  const isLetter = last >= 0x61 && last <= 0x66
  if (!isDigit(last) && !isLetter) return 0
  if (sixteens === 1) return 6
  // These have short forms: \b \t \n \f \r.
  const isShort = last === 0x38 || last === 0x39 || last === 0x61 || last === 0x63 || last === 0x64
  return sixteens === 0 && !isShort ? 6 : 0
}

/** True where these bytes stand at this position. */
export function standsAt(bytes: Uint8Array, at: number, expected: Uint8Array): boolean {
  for (let index = 0; index < expected.length; index++) if (bytes[at + index] !== expected[index]) return false
  return true
}
