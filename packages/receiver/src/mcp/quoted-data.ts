import { visible } from '../visible.js'

/**
 * Bytes of a text in an answer. The protocol sends an answer as a string of JSON, in which a quote takes two bytes, so that is what counts.
 */
export function bytesOf(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2
}

/** A part of a text of a record, quoted. */
export interface Quoted {
  /** One string of JSON, on one line. A part says the length of the whole. */
  readonly text: string
  /** Where the rest of the text begins; undefined where there is none. */
  readonly next: number | undefined
}

/**
 * Quotes a text of a record, so that it is seen to be data whatever it says: one string of JSON in which control characters, and marks that
 * hide or reorder text, are signs.
 *
 * @param from where in the text to begin
 * @param maxBytes of the string in the answer, as {@link bytesOf} counts
 */
export function quotedPart(
  text: string,
  { from = 0, maxBytes }: { readonly from?: number; readonly maxBytes: number },
): Quoted {
  let end = from
  let bytes = 0
  let shown = ''
  while (end < text.length) {
    const character = String.fromCodePoint(text.codePointAt(end)!)
    const sign = visible(character)
    bytes += bytesOf(JSON.stringify(sign)) - quoteBytes
    if (bytes > maxBytes) break
    shown += sign
    end += character.length
  }
  if (from === 0 && end === text.length) return { text: JSON.stringify(shown), next: undefined }
  const place = `characters ${from + 1} to ${end} of ${text.length}`
  const next = end < text.length ? end : undefined
  return {
    text: `${JSON.stringify(`${from > 0 ? '…' : ''}${shown}${next === undefined ? '' : '…'}`)} (${place})`,
    next,
  }
}

/** The beginning of a text, quoted. */
export function quoted(text: string, maxBytes: number): string {
  return quotedPart(text, { maxBytes }).text
}

/** A name that a record has. One that could be anything else is quoted. */
export function named(name: string): string {
  return plainName.test(name) ? name : quoted(name, maxNameBytes)
}

/** A quote at each end, with its backslash. */
const quoteBytes = 4
const plainName = /^[\w@][\w.@:+-]{0,63}$/
const maxNameBytes = 100
