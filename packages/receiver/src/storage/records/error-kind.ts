import { errorSeverity, severityOfName } from '../../../../../src/records/level.js'
import type { ErrorKind } from '../record-storage.js'

export type { ErrorKind }

/** So much of a first line is read, in characters. */
const maxRead = 500
/** Longest message, in characters. */
const maxMessage = 200
const maxType = 100
const maxFunction = 100
const maxPath = 200
/** The head of a stack has at most this number of lines and characters, and so has the rest of it up to its first own frame. */
const maxLines = 50
const maxCharacters = 10_000

/** Before the first frame of a stack. Every line of a stack has four spaces. */
const beforeFrame = '\n    at '

/** The kind of error that a log tells of: by its stack, or, where it has none, by the text of a log of level error or above. Values have none. */
export function errorKindOf({ level, message }: Readonly<Record<string, unknown>>): ErrorKind | undefined {
  if (typeof level !== 'string' || typeof message !== 'string') return undefined
  const frames = message.indexOf(beforeFrame)
  if (frames !== -1) return kindOf(partsOfStack(message, frames))
  return isErrorLevel(level) ? kindOf({ type: null, message: textOf(message), frame: null }) : undefined
}

/** The line with name and message of the error whose stack a message has; undefined where it has none. */
export function errorLineOf(message: string): string | undefined {
  const frames = message.indexOf(beforeFrame)
  return frames === -1 ? undefined : headOf(linesBefore(message, frames))
}

/** False for a log that has no kind of error. Costs little, for the record need not be parsed. */
export function mayHaveError({ level, json }: { readonly level: string; readonly json: string }): boolean {
  return isErrorLevel(level) || json.includes(frameInJson)
}

const frameInJson = JSON.stringify(beforeFrame).slice(1, -1)

function isErrorLevel(level: string): boolean {
  const severity = severityOfName(level)
  return severity !== undefined && severity >= errorSeverity
}

type Parts = Omit<ErrorKind, 'id'>

function kindOf({ type, message, frame }: Parts): ErrorKind {
  const parts = { type, message: withPlaceholders(message.slice(0, maxRead)), frame }
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

/** The text in front of the context. */
function textOf(message: string): string {
  const line = firstLine(message.slice(0, maxCharacters).trimStart())
  const context = line.startsWith('{"') ? 0 : line.indexOf(' {"')
  return context === -1 ? line : line.slice(0, context)
}

function firstLine(text: string): string {
  const end = text.indexOf('\n')
  return end === -1 ? text : text.slice(0, end)
}

/** @param frames where the first frame begins */
function partsOfStack(message: string, frames: number): Parts {
  const head = headOf(linesBefore(message, frames))
  const [, named, text, only] =
    /^(?:Uncaught )?(?:([\w$.]+)(?: \[[^\]]*\])?: (.*)|([\w$.]*(?:Error|Exception))$)/.exec(head) ?? []
  const type = named ?? only
  return {
    type: type === undefined ? null : type.slice(0, maxType),
    message: type === undefined ? head : (text ?? ''),
    frame: ownFrame(message.slice(frames + 1, frames + maxCharacters).split('\n', maxLines)),
  }
}

function linesBefore(message: string, frames: number): string[] {
  return message
    .slice(Math.max(0, frames - maxCharacters), frames)
    .split('\n')
    .slice(-maxLines)
}

const nameOfError = /^(?:Uncaught )?[\w$.]*(?:Error|Exception)\b/

/** The line with the name and the message of an error: behind the context, or else the first one that has the name of an error. */
function headOf(lines: readonly string[]): string {
  const context = lines.findIndex((line) => line.endsWith('}') && (line.startsWith('{"') || line.includes(' {"')))
  const behind = lines[context + 1]
  if (context !== -1 && behind !== undefined) return behind.slice(0, maxRead)
  const found = lines.find((line) => nameOfError.test(line.slice(0, maxRead))) ?? lines[1] ?? lines[0]!
  return found.slice(0, maxRead)
}

function ownFrame(lines: readonly string[]): string | null {
  for (const line of lines) {
    if (!line.startsWith('    at ')) return null
    const frame = frameOf(line.slice('    at '.length).replace(/^async /, ''))
    if (frame !== undefined) return frame
  }
  return null
}

/** A frame such as `placeOrder (/srv/shop/src/orders.js:12:3)` without what changes from one machine or version to the next. */
function frameOf(written: string): string | undefined {
  const open = written.endsWith(')') ? written.indexOf(' (') : -1
  const place = open === -1 ? written : written.slice(open + 2, -1)
  if (!/:\d+$/.test(place) || isForeign(place)) return undefined
  const path = pathOf(place)
  const name = open === -1 ? '' : written.slice(0, open).replace(/ \[as [^[\]]*\]$/, '')
  return printable(name === '' ? path : `${name.slice(0, maxFunction)} (${path})`)
}

function isForeign(place: string): boolean {
  return /[\\/]node_modules[\\/]|^node:|^internal\/|^native |<anonymous>/.test(place)
}

/** Folders in which the files of an application begin, wherever it is deployed. */
const sourceFolders: ReadonlySet<string> = new Set(['src', 'dist', 'lib', 'build', 'out', 'server', 'packages'])

/** The path from the last folder of sources on, or else the file with its folder. */
function pathOf(place: string): string {
  const segments = place
    .slice(-1000)
    .replace(/(?::\d+){1,2}$/, '')
    .replace(/[?#].*$/, '')
    .split(/[\\/]+/)
    .filter((segment) => segment !== '' && segment !== '.' && !/^[a-z-]+:$/i.test(segment))
  const root = segments.slice(0, -1).findLastIndex((segment) => sourceFolders.has(segment))
  const kept = segments.slice(root === -1 ? -2 : root)
  return kept.map(withoutHash).join('/').slice(-maxPath)
}

/** Bundlers give a file a new name with each build: `main-3f9c21ab.js`. */
function withoutHash(segment: string): string {
  return segment.replace(/(?<=[-._])(?=[\w]*\d)\w{8,}(?=[.]|$)/g, '<id>')
}

/** Texts that stand for one thing each, and what takes their place. */
const placeholders: readonly (readonly [RegExp, string])[] = [
  // Colours of a terminal.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they begin with one
  [/\x1b\[[\d;]*m/g, ''],
  [/(\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s?#"'<>]{1,300})[?#][^\s"'<>)]*/gi, '$1'],
  [/[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+/g, '<email>'],
]
const placeholdersOfDigits: readonly (readonly [RegExp, string])[] = [
  [/\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?(?:Z|[-+]\d\d:?\d\d))?)?/g, '<time>'],
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
function withPlaceholders(line: string): string {
  let text = line
  for (const [found, placeholder] of placeholders) text = text.replace(found, placeholder)
  if (/\d/.test(text)) for (const [found, placeholder] of placeholdersOfDigits) text = text.replace(found, placeholder)
  return printable(text).replace(/\s+/g, ' ').trim().slice(0, maxMessage).toWellFormed()
}

/** Databases do not take every control character. */
function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it replaces
  return text.replace(/[\0-\x1f\x7f]/g, ' ').toWellFormed()
}
