import { oneLine } from '../../../../src/errors/text-of.js'
import { timeOf } from '../../../../src/records/time.js'

/** Longer texts are cut before the replacement, so that the time does not grow with the text. */
const maxChars = 8000

/**
 * The first line of a text, with a sign for each character that a terminal could obey: `␛` for escape, `\u202e` for a change of the writing
 * direction. `…` stands for further lines.
 */
export function visibleLine(text: string): string {
  const part = text.slice(0, maxChars)
  const end = part.search(/\r?\n/)
  const line = end === -1 ? part : part.slice(0, end) + (part.slice(end).trim() === '' ? '' : ' …')
  return oneLine(line.replace(unprintable, sign))
}

/** All lines of a text, those behind the first one indented by two spaces, with signs as {@link visibleLine} has them. */
export function visibleLines(text: string): string {
  return text
    .trimEnd()
    .split(/\r?\n/)
    .map((line) => line.replace(unprintable, sign))
    .join('\n  ')
}

/** Time and date of a record in UTC; the number itself where it is no time. */
export function timeText(timeStamp: number): string {
  const time = timeOf(timeStamp)
  return time === undefined ? String(timeStamp) : new Date(time).toISOString()
}

const unprintable = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu
const picturesOfControls = 0x2400
const pictureOfDelete = '\u2421'

function sign(character: string): string {
  const code = character.charCodeAt(0)
  if (code < 0x20) return String.fromCharCode(picturesOfControls + code)
  return code === 0x7f ? pictureOfDelete : `\\u${code.toString(16).padStart(4, '0')}`
}
