import { errorSeverity, severityOfName } from '../../../../../src/records/level.js'
import type { ErrorKind } from '../record-storage.js'
import { errorOf, mayHaveStack, type Stack, stackIn } from './error-stack.js'
import { errorLine, printable, textOf, withoutCodes, withPlaceholders } from './error-text.js'

export type { ErrorKind }

/** So much of a text without a stack is read, in characters and lines. */
const maxCharacters = 10_000
const maxLines = 50

/** The kind of error that a log tells of: by its stack, or, where it has none, by the text of a log of level error or above. Values have none. */
export function errorKindOf({ level, message }: Readonly<Record<string, unknown>>): ErrorKind | undefined {
  if (typeof level !== 'string' || typeof message !== 'string') return undefined
  const text = withoutCodes(message)
  const stack = stackIn(text)
  if (stack !== undefined) return kindOf(stack)
  return isErrorLevel(level) ? kindOf(withoutStack(text.slice(0, maxCharacters).trimStart())) : undefined
}

/** False for a log that has no kind of error. Costs little, for the record need not be parsed. */
export function mayHaveError({ level, json }: { readonly level: string; readonly json: string }): boolean {
  return isErrorLevel(level) || mayHaveStack(json) || json.includes('\\u001b[') || json.includes('\x9b')
}

function isErrorLevel(level: string): boolean {
  const severity = severityOfName(level)
  return severity !== undefined && severity >= errorSeverity
}

/** The error that the library writes behind text and context, or else the text. */
function withoutStack(text: string): Stack {
  const [first = '', ...others] = text.split('\n', maxLines)
  const error = others.length === 0 ? undefined : errorLine([first, ...others])
  const found = error === undefined || error === first ? { type: null } : errorOf(error)
  return found.type === null ? { type: null, message: textOf(first), frame: null } : { ...found, frame: null }
}

function kindOf({ type, message, frame }: Stack): ErrorKind {
  const parts = {
    type: type === null ? null : printable(type),
    message: withPlaceholders(message),
    frame: frame === null ? null : printable(frame),
  }
  const id = hashOf(JSON.stringify([parts.type, parts.message, parts.frame]))
  return { id, ...parts }
}

/** 16 hexadecimal digits, by the hash cyrb53 of bryc (public domain), all of its 64 bits. It runs in browsers, too. */
function hashOf(text: string): string {
  let [one, other] = [0xdeadbeef, 0x41c6ce57]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    one = Math.imul(one ^ code, 2_654_435_761)
    other = Math.imul(other ^ code, 1_597_334_677)
  }
  const mixed = (a: number, b: number) =>
    Math.imul(a ^ (a >>> 16), 2_246_822_507) ^ Math.imul(b ^ (b >>> 13), 3_266_489_909)
  one = mixed(one, other)
  other = mixed(other, one)
  return [other, one].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('')
}
