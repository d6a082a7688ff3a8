/** How the end of an answer's body is found. */
export type Framing =
  | { readonly type: 'length'; readonly bytes: number }
  | { readonly type: 'chunked' }
  /** It ends with the connection. */
  | { readonly type: 'until-close' }

/** The head of an answer: what of it matters to whoever sent a record. */
export interface AnswerHead {
  readonly status: number
  readonly version: '1.0' | '1.1'
  readonly framing: Framing
  /** The server said that it closes the connection after this answer: it processes nothing that came later on it. */
  readonly closes: boolean
  /** No further answer can come on this connection. */
  readonly last: boolean
  /** How long the server keeps an idle connection, by its header `keep-alive`. */
  readonly keepAliveMs: number | undefined
  readonly retryAfter: string | undefined
  readonly location: string | undefined
  readonly correlationId: string | undefined
  /** The header `idempotency-key`, which servers send that know repetitions by it. */
  readonly echoedKey: string | undefined
}

/** What was wrong with bytes that are no answer, or none that is read here. */
export interface NotUnderstood {
  readonly failure: string
}

const statusLine = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/
const fieldLine = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*$/
const wholeNumber = /^\d{1,15}$/

/** Fields that have to be known; each may stand once, for a repetition is where readers come to differ. */
const known = {
  connection: '',
  'content-length': '',
  'transfer-encoding': '',
  'keep-alive': '',
  'retry-after': '',
  location: '',
  'x-correlation-id': '',
  'idempotency-key': '',
}
type Known = keyof typeof known
/** So that the names of other fields are not even cut out. */
const knownLengths: ReadonlySet<number> = new Set(Object.keys(known).map(({ length }) => length))

/** Whether a line is a field as RFC 9112 has it: no space before the colon, no folded line, no control character. */
export function isField(line: string): boolean {
  return fieldLine.test(line)
}

/**
 * Read a head, its lines parted by CRLF, without the empty line that ends it. It is strict: a length that is no number, any framing
 * field twice, a length beside a transfer coding, any coding but `chunked`, a folded line, a line that ends with a bare LF or CR, and
 * `101` are not understood.
 */
export function readHead(text: string): AnswerHead | NotUnderstood {
  const firstEnd = text.indexOf('\r\n')
  const start = statusLine.exec(firstEnd === -1 ? text : text.slice(0, firstEnd))
  if (start === null) return { failure: 'the status line is none of HTTP/1.0 or HTTP/1.1' }
  const fields: Partial<Record<Known, string>> = {}
  for (let at = firstEnd; at !== -1; ) {
    const next = text.indexOf('\r\n', at + 2)
    const line = text.slice(at + 2, next === -1 ? text.length : next)
    if (!isField(line)) return { failure: 'a header line is not understood' }
    const failure = keep(fields, line)
    if (failure !== undefined) return { failure }
    at = next
  }
  return understand({ status: Number(start[2]), version: start[1] === '0' ? '1.0' : '1.1', fields })
}

/** Keep the line's value where its field is known; what is wrong with it. */
function keep(fields: Partial<Record<Known, string>>, line: string): string | undefined {
  const colon = line.indexOf(':')
  if (!knownLengths.has(colon)) return undefined
  const name = line.slice(0, colon).toLowerCase()
  if (!Object.hasOwn(known, name)) return undefined
  const value = line.slice(colon + 1).trim()
  const before = fields[name as Known]
  if (before === undefined) fields[name as Known] = value
  else if (name === 'connection') fields.connection = `${before},${value}`
  else if (name === 'content-length' || name === 'transfer-encoding') return `the header ${name} stands twice`
  return undefined
}

function understand({
  status,
  version,
  fields,
}: {
  status: number
  version: AnswerHead['version']
  fields: Partial<Record<Known, string>>
}): AnswerHead | NotUnderstood {
  const { connection = '', 'content-length': length, 'transfer-encoding': coding } = fields
  if (status === 101) return { failure: 'the server wants another protocol (101)' }
  if (length !== undefined && !wholeNumber.test(length)) return { failure: 'the content-length is not a number' }
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    return { failure: `the transfer coding is not chunked` }
  }
  if (coding !== undefined && length !== undefined) return { failure: 'a content-length beside a transfer coding' }
  if (coding !== undefined && version === '1.0') return { failure: 'a transfer coding in HTTP/1.0' }
  const bodiless = status < 200 || status === 204 || status === 304
  if (bodiless && (coding !== undefined || (status !== 304 && Number(length ?? 0) > 0))) {
    return { failure: `a body with status ${status}` }
  }
  const tokens = connection.toLowerCase().split(',')
  const says = (token: string) => connection !== '' && tokens.some((each) => each.trim() === token)
  const closes = says('close')
  const framing = bodiless ? noBody : framingOf(coding, length)
  return {
    status,
    version,
    framing,
    closes,
    last: closes || framing.type === 'until-close' || (version === '1.0' && !says('keep-alive')),
    keepAliveMs: keepAliveMs(fields['keep-alive']),
    retryAfter: fields['retry-after'],
    location: fields.location,
    correlationId: fields['x-correlation-id'],
    echoedKey: fields['idempotency-key'],
  }
}

const noBody: Framing = { type: 'length', bytes: 0 }

function framingOf(coding: string | undefined, length: string | undefined): Framing {
  if (coding !== undefined) return { type: 'chunked' }
  return length === undefined ? { type: 'until-close' } : { type: 'length', bytes: Number(length) }
}

function keepAliveMs(value: string | undefined): number | undefined {
  const seconds = value === undefined ? null : /(?:^|[\s,;])timeout\s*=\s*(\d{1,9})/i.exec(value)
  return seconds === null ? undefined : Number(seconds[1]) * 1000
}
