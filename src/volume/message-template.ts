/** Characters of a message that count: the rest does not tell messages apart. */
export const maxTemplateChars = 1000

const [other, letter, digit, joiner] = [0, 1, 2, 3]
/** Kinds of ASCII characters. All others are between words and stay as they are, as some languages have no spaces. */
const kinds = new Uint8Array(128)
for (const code of Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-')) kinds[code] = letter
for (const code of Buffer.from('0123456789')) kinds[code] = digit
/** The signs of decimals, thousands, times, addresses and zones: part of a word between two digits. */
for (const code of Buffer.from('.:,+')) kinds[code] = joiner

/**
 * The message with `#` in the place of each number and id, so that messages that differ only in these have the same template. At most
 * {@link maxTemplateChars} characters of the message count. Takes time in proportion to them.
 *
 * A word is a run of ASCII letters, digits, `_` and `-`, and of `.`, `:`, `,` and `+` between two digits. A word with a digit is a number or
 * an id, and so is a UUID whose digits are all letters.
 */
export function messageTemplate(text: string): string {
  const end = Math.min(text.length, maxTemplateChars)
  let template = ''
  /** The message before this place is in the template. */
  let taken = 0
  for (let at = 0; at < end; at++) {
    const start = at
    let hasDigit = false
    for (; at < end; at++) {
      const kind = kindAt(text, at)
      if (kind === digit) hasDigit = true
      else if (kind === other || (kind === joiner && !isBetweenDigits(text, at, end))) break
    }
    if (!hasDigit && !(at - start === uuidChars && uuidOfLetters.test(text.slice(start, at)))) continue
    template += `${text.slice(taken, start)}#`
    taken = at
  }
  return template + text.slice(taken, end)
}

const uuidChars = 36
const uuidOfLetters = /^[a-f]{8}-[a-f]{4}-[a-f]{4}-[a-f]{4}-[a-f]{12}$/i

function kindAt(text: string, at: number): number {
  const code = text.charCodeAt(at)
  return code < 128 ? kinds[code]! : other
}

function isBetweenDigits(text: string, at: number, end: number): boolean {
  return at > 0 && at + 1 < end && kindAt(text, at - 1) === digit && kindAt(text, at + 1) === digit
}
