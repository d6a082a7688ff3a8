import { isDigit } from './plain-fields.js'

const zero = '0'.charCodeAt(0)
const point = '.'.charCodeAt(0)
const exponent = 'e'.charCodeAt(0)
const minus = '-'.charCodeAt(0)
const plus = '+'.charCodeAt(0)

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
