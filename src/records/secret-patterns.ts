/** A code that colours a text in a terminal, also as an escape of JSON or JavaScript. */
const colour = String.raw`(?:\x1b|\\(?:u001|x1)[bB])\[[\d;]*m`
/** A percent of a URL, which may be encoded itself. */
const percent = '%(?:25){0,3}'
/** A character of a URL or of JSON within a text, whose last letter or digit is no part of the word that follows. */
const escaped = String.raw`${percent}[\da-fA-F]{2}|\\[bfnrt]|\\u[\da-fA-F]{4}`

/** True behind the first signs of a word, which stand behind none of these characters, or behind a colour or an escape. */
function behind(signs: string, characters: string): string {
  return `(?<=(?:(?<![${characters}])|(?<=${colour}|${escaped}))${signs})`
}

/**
 * Texts that are secret or personal, by name. Each expression takes time in proportion to the text: it begins at no place within a run
 * that it has tried.
 */
const expressions = {
  /** Numbers of 13 to 19 digits with the check digit of a card (Luhn), with single spaces or dashes between digits. */
  card: new RegExp(String.raw`[2-6](?=(?:[ -]?\d){12})${behind('[2-6]', '\\d')}(?:[ -]?\d){12,18}`, 'g'),
  /** The token of an `Authorization` header; its scheme stays. */
  bearer: new RegExp(
    String.raw`(bearer${behind('bearer', '\\w')}(?:[\s+]|${percent}(?:20|09)|${colour}){1,8})[\w.~+/=%-]{8,}`,
    'gi',
  ),
  /** JSON Web Tokens. */
  jwt: new RegExp(String.raw`eyJ${behind('eyJ', '\\w-')}[\w-]+\.[\w-]+\.[\w-]*`, 'g'),
  /** Letters may be written in several characters (\p{M}), such as an e and its accent. */
  email: /(?<![\p{L}\p{M}\p{N}._%+-])[\p{L}\p{M}\p{N}._%+-]+@[\p{L}\p{M}\p{N}-]+(?:\.[\p{L}\p{M}\p{N}-]+)+/gu,
  /** User and password of a URL. */
  'url-credentials': /(?<=:\/\/)[^\s/?#"]+(?=@)/g,
} as const

/** Names of the patterns. */
export type PatternName = keyof typeof expressions

export const patternNames = Object.keys(expressions) as readonly PatternName[]

/** Replaces all texts of the named patterns by the mask. */
export function textMasker(names: readonly PatternName[], mask: string): (text: string) => string {
  const chosen = patternNames.filter((name) => names.includes(name))
  return (text) => {
    let masked = text
    for (const name of chosen) {
      // The check is cheap, and most texts have nothing to replace.
      if (!signs[name](masked)) continue
      masked =
        name === 'card'
          ? withoutCards(masked, mask)
          : masked.replace(expressions[name], (_, scheme) => (name === 'bearer' ? scheme + mask : mask))
    }
    return masked
  }
}

/** False for a text that the expression cannot match. */
const signs: Readonly<Record<PatternName, (text: string) => boolean>> = {
  card: (text) => text.length >= 13,
  bearer: (text) => text.length > 8,
  jwt: (text) => text.includes('eyJ'),
  email: (text) => text.includes('@'),
  'url-credentials': (text) => text.includes('@') && text.includes('://'),
}

/** Other digits may stand before a card, with a space between. Digits behind it are hidden, too: they may belong to it. */
function withoutCards(text: string, mask: string): string {
  const { card } = expressions
  let masked = ''
  let taken = 0
  card.lastIndex = 0
  for (let found = card.exec(text); found !== null; found = card.exec(text)) {
    if (!beginsWithCard(text, found.index, card.lastIndex)) {
      card.lastIndex = found.index + 1
      continue
    }
    masked += text.slice(taken, found.index) + mask
    furtherDigits.lastIndex = card.lastIndex
    furtherDigits.test(text)
    taken = furtherDigits.lastIndex
    card.lastIndex = taken
  }
  return taken === 0 ? text : masked + text.slice(taken)
}

const furtherDigits = /(?:[ -]?\d)*/y

/** True where a number with the check digit of a card stands between the positions, from the first one on. */
function beginsWithCard(text: string, start: number, last: number): boolean {
  for (let end = last; end - start >= shortestCard; end--) {
    if (isDigit(text[end]) || !isDigit(text[end - 1])) continue
    const digits = text.slice(start, end).replace(/\D/g, '')
    if (digits.length >= shortestCard && hasCheckDigit(digits)) return true
  }
  return false
}

const shortestCard = 13

function isDigit(char: string | undefined): boolean {
  return char !== undefined && char >= '0' && char <= '9'
}

/** The algorithm of H. P. Luhn (ISO/IEC 7812-1, annex B). */
function hasCheckDigit(digits: string): boolean {
  let sum = 0
  for (let place = 0; place < digits.length; place++) {
    const digit = Number(digits[digits.length - 1 - place])
    const doubled = place % 2 === 0 ? digit : digit * 2
    sum += doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}
