/** How fields that the API has no place for follow the message. */
export type ContextStyle = 'json' | 'logfmt' | 'none'

/** What a line says, before it becomes the record's `message`. */
export interface Line {
  readonly text: string
  /** Fields besides the text; empty when there are none. */
  readonly context: Readonly<Record<string, unknown>>
  /** Stack and causes of the line's error. */
  readonly error: string | undefined
}

/** One text of the parts of a line: text, context on the same line, the error's stack on the lines that follow. */
export function messageOf({ text, context, error }: Line, style: ContextStyle): string {
  const fields = style === 'none' ? '' : style === 'json' ? jsonOf(context) : logfmtOf(context)
  const head = fields === '' ? text : text === '' ? fields : `${text} ${fields}`
  if (error === undefined || error === '') return head
  return head === '' ? error : `${head}\n${error}`
}

/** Cut a text to at most `maxBytes` of UTF-8, at a character, with a mark that says how much is missing. */
export function cutToBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text
  const bytes = Buffer.byteLength(text)
  if (bytes <= maxBytes) return text
  const room = Math.max(0, maxBytes - Buffer.byteLength(mark(bytes)))
  const { read } = new TextEncoder().encodeInto(text.slice(0, room), new Uint8Array(room))
  const kept = text.slice(0, read)
  return kept + mark(bytes - Buffer.byteLength(kept))
}

/** JSON of anything: what cannot be written (cycles, BigInt, a getter that throws) becomes a stub, never an exception. */
export function jsonOf(value: unknown): string {
  if (isEmpty(value)) return ''
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return carefulJson(value)
  }
}

function logfmtOf(context: Readonly<Record<string, unknown>>): string {
  return Object.entries(context)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key.replace(/[\s="]/g, '_')}=${logfmtValue(value)}`)
    .join(' ')
}

function logfmtValue(value: unknown): string {
  const text = typeof value === 'string' ? value : jsonOf(value) || '{}'
  return text === '' || /[\s="\\]/.test(text) ? JSON.stringify(text) : text
}

function carefulJson(value: unknown): string {
  const open: object[] = []
  const replace = function (this: unknown, _key: string, item: unknown): unknown {
    if (typeof item === 'bigint') return item.toString()
    if (typeof item !== 'object' || item === null) return item
    while (open.length > 0 && open.at(-1) !== this) open.pop()
    if (open.includes(item)) return '[circular]'
    if (open.length >= maxDepth) return '[too deep]'
    open.push(item)
    return item
  }
  try {
    return JSON.stringify(value, replace) ?? String(value)
  } catch {
    return '"[not serialisable]"'
  }
}

function isEmpty(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  for (const key in value) if (Object.hasOwn(value, key)) return false
  return !Array.isArray(value)
}

function mark(bytes: number): string {
  return `… [${bytes} bytes cut]`
}

/** Deeper than any log line that a person reads; it bounds the search for cycles. */
const maxDepth = 100
