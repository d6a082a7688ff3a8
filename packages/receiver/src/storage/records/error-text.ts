import { ownPath } from './source-path.js'

/** So much of a line is read, in characters. */
const maxRead = 500
/** Longest text of a kind, in characters. */
const maxText = 200

const nameOfError =
  /^(?:Uncaught |Unhandled exception\. |Exception in thread "[^"]*" )?(?:[\w$.]*(?:Error|Exception)\b|\*?[\w$]+(?:[.+\\]|::)[\w$.+:\\]*[\w$](?::\s|$)|(?:panic|fatal error): |http: panic )/

/** The line with the name and the message of an error: behind the context, or else the first one that has the name of an error. */
export function headLine(lines: readonly string[]): string {
  return errorLine(lines) ?? lines[1] ?? lines[0]!
}

/** Undefined where no line has the name of an error, and there is no context. */
export function errorLine(lines: readonly string[]): string | undefined {
  const context = lines.findIndex((line) => line.endsWith('}') && (line.startsWith('{"') || line.includes(' {"')))
  const behind = lines[context + 1]
  return context !== -1 && behind !== undefined ? behind : lines.find((line) => nameOfError.test(line))
}

/** The text in front of the context, of a first line. */
export function textOf(line: string): string {
  const context = line.startsWith('{"') ? 0 : line.indexOf(' {"')
  return context === -1 ? line : line.slice(0, context)
}

// Colours, other codes of a terminal, and its links.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they begin with one
const codes = /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?/g

/** A text without the codes for a terminal. */
export function withoutCodes(text: string): string {
  return text.includes('\x1b') || text.includes('\x9b') ? text.replace(codes, '') : text
}

/** Texts that stand for one thing each, and what takes their place. */
const placeholders: readonly (readonly [RegExp, string | ((found: string) => string)])[] = [
  [/(\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s?#"'<>]{1,300})[?#][^\s"'<>)]*/gi, '$1'],
  [/[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+/g, '<email>'],
  // A file in folders.
  [/(?<![\w.:/\\])(?:[a-z]:)?(?:[\\/][\w.@~+-]{1,100}){2,20}(?<=\.[a-z]\w{0,4})/gi, ownPath],
]
const placeholdersOfDigits: readonly (readonly [RegExp, string])[] = [
  [/\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?(?:Z|[-+]\d\d:?\d\d))?)?/g, '<time>'],
  // An address of IPv6, maybe with its zone and a port.
  [
    /(?<![\w:.])\[?(?=[\da-f:.]{0,60}\d)(?:[\da-f]{0,4}:){2,8}(?:(?:\d{1,3}\.){3}\d{1,3}|[\da-f]{0,4})(?:%[\w.-]{1,30})?(?:\](?::\d{1,5})?|:\d{1,5})?(?![\w:])/gi,
    '<n>',
  ],
  [/\b[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b/gi, '<id>'],
  [/(?<![\w-])(?=[\w-]*\d[A-Za-z])[\w-]{16,}/g, '<id>'],
  [/\b0x[\da-f]+\b/gi, '<id>'],
  [/(?<![A-Za-z\d])(?=[a-f]*\d)[\da-f]{8,}(?![A-Za-z\d])/gi, '<id>'],
  // A number with its unit, letters with a number behind them, and numbers with points or colons between them. All else that has a digit is an id.
  [
    /(?<![A-Za-z\d])(?:(?<!\w)-)?\d+(?:[.,:]\d+)*(?=(?:[nmµ]?s|min|[mhdx]|st|nd|rd|th|[kmgt]?i?b|px)?(?![A-Za-z\d]))/gi,
    '<n>',
  ],
  [/(?<=(?<![A-Za-z\d])[A-Za-z]{1,40})\d+(?:[.,:]\d+)*(?![A-Za-z\d])/g, '<n>'],
  [/(?<![A-Za-z\d<])[A-Za-z]*\d[A-Za-z\d]*/g, '<id>'],
  [/(<\w+>)(?:(?:, ?| )\1)+/g, '$1'],
]

/** The same text for all messages of one kind. Its length is bounded, and so is the time that these expressions take. */
export function withPlaceholders(line: string): string {
  let text = withoutQuoted(line.slice(0, maxRead))
  for (const [found, placeholder] of placeholders) text = text.replace(found, placeholder as string)
  if (/\d/.test(text)) for (const [found, placeholder] of placeholdersOfDigits) text = text.replace(found, placeholder)
  return printable(text).replace(/\s+/g, ' ').trim().slice(0, maxText).toWellFormed()
}

const closing: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  '`': '`',
  '“': '”',
  '‘': '’',
  '„': '“',
  '«': '»',
}

/** Texts in quotation marks are what somebody has sent, or a name. */
function withoutQuoted(line: string): string {
  // V8 quotes a part of what it was to parse, with the quotation marks that are in it.
  const text = line.replace(/, (?:\.{3})?".*"(?:\.{3})? is not valid JSON/, ', "" is not valid JSON')
  let written = ''
  for (let at = 0; at < text.length; ) {
    const close = closing[text[at]!]
    const end = close === undefined || isWordAt(text, at - 1) ? undefined : endOfQuoted(text, { at, close })
    if (end === undefined) written += text[at++]
    else {
      written = `${written.endsWith('...') ? written.slice(0, -3) : written}<text>`
      at = text.startsWith('...', end) ? end + 3 : end
    }
  }
  return written
}

/** Undefined where no text in quotation marks begins: an apostrophe may stand anywhere. */
function endOfQuoted(text: string, { at, close }: { readonly at: number; readonly close: string }): number | undefined {
  // A single sign, which may be the quotation mark itself.
  if (text[at + 2] === close && !isWordAt(text, at + 3) && text[at + 1] !== close) return at + 3
  if (text.startsWith(close.repeat(3), at) && !isWordAt(text, at + 3)) return at + 3
  for (let end = text.indexOf(close, at + 1); end !== -1; end = text.indexOf(close, end + 1)) {
    if (text[end - 1] !== '\\' && !isWordAt(text, end + 1)) return end + 1
  }
  return close === "'" || close === '’' ? undefined : text.length
}

function isWordAt(text: string, at: number): boolean {
  return /[\p{L}\p{N}_]/u.test(text[at] ?? '')
}

/** Databases do not take every control character. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it replaces
  return text.replace(/[\0-\x1f\x7f]/g, ' ').toWellFormed()
}
