/** Longest head, in bytes; Node and nginx allow as much. */
export const maxHeadBytes = 16_384

/** How the end of an answer's body is found. */
export type Framing =
  | { readonly type: 'length'; readonly bytes: number }
  | { readonly type: 'chunked' }
  /** It ends with the connection. */
  | { readonly type: 'until-close' }

/** The parts of an answer's head that a sender of records needs. */
export interface AnswerHead {
  readonly status: number
  readonly version: '1.0' | '1.1'
  readonly framing: Framing
  /** The server closes the connection after this answer. It may have processed later requests on it all the same. */
  readonly closes: boolean
  /** No further answer can come on this connection. */
  readonly last: boolean
  /** Time for which the server keeps an idle connection, from its header `keep-alive`. */
  readonly keepAliveMs: number | undefined
  /** The number `max` of the header `keep-alive`. Some servers mean all requests of a connection, others the requests that are left. */
  readonly keepAliveMax: number | undefined
  readonly retryAfter: string | undefined
  readonly location: string | undefined
  /** The header `content-encoding`. */
  readonly contentCoding: string | undefined
  /** The header `idempotency-key`. Servers that recognise repeated requests by it send it back. */
  readonly echoedKey: string | undefined
}

/** The reason why bytes are not an answer that is read here. */
export interface NotUnderstood {
  readonly failure: string
}

const statusLine = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/
const fieldLine = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*$/
const wholeNumber = /^\d{1,15}$/

/** The values of the fields that are read. */
class Fields {
  connection: string | undefined = undefined
  contentLength: string | undefined = undefined
  transferEncoding: string | undefined = undefined
  keepAlive: string | undefined = undefined
  retryAfter: string | undefined = undefined
  location: string | undefined = undefined
  contentCoding: string | undefined = undefined
  idempotencyKey: string | undefined = undefined
}

/** True for a header line by RFC 9112: no space before the colon, no folded line, no control character. */
export function isField(line: string): boolean {
  return fieldLine.test(line)
}

/**
 * Read a head: lines with CRLF between them, without the empty line at the end. Not understood are a length that is not a number, a
 * framing field that stands twice, a length beside a transfer coding, a coding other than `chunked`, a folded line, a line that ends with
 * a bare LF or CR, and the status 101.
 */
export function readHead(text: string): AnswerHead | NotUnderstood {
  const firstEnd = text.indexOf('\r\n')
  const start = statusLine.exec(firstEnd === -1 ? text : text.slice(0, firstEnd))
  if (start === null) return { failure: 'the status line is none of HTTP/1.0 or HTTP/1.1' }
  const fields = new Fields()
  for (let at = firstEnd; at !== -1; ) {
    const next = text.indexOf('\r\n', at + 2)
    const line = text.slice(at + 2, next === -1 ? text.length : next)
    if (!isField(line)) return { failure: 'a header line is not understood' }
    const failure = keep(fields, line)
    if (failure !== undefined) return { failure }
    at = next
  }
  return understand(fields, { status: Number(start[2]), version: start[1] === '0' ? '1.0' : '1.1' })
}

/**
 * Keep the value of a field that is read. Returns the reason where the line is not understood. The length of the name rules out most
 * other fields. A framing field may not stand twice, because readers then differ about the end of the answer. Of others the first counts.
 */
function keep(fields: Fields, line: string): string | undefined {
  const colon = line.indexOf(':')
  const is = (name: string) => line.startsWith(name) || line.slice(0, colon).toLowerCase() === name
  const value = () => line.slice(colon + 1).trim()
  switch (colon) {
    case 8:
      if (is('location')) fields.location ??= value()
      break
    case 10:
      if (is('keep-alive')) fields.keepAlive ??= value()
      else if (is('connection')) {
        fields.connection = fields.connection === undefined ? value() : `${fields.connection},${value()}`
      }
      break
    case 11:
      if (is('retry-after')) fields.retryAfter ??= value()
      break
    case 14:
      if (!is('content-length')) break
      if (fields.contentLength !== undefined) return 'the header content-length stands twice'
      fields.contentLength = value()
      break
    case 15:
      if (is('idempotency-key')) fields.idempotencyKey ??= value()
      break
    case 16:
      if (is('content-encoding')) fields.contentCoding ??= value()
      break
    case 17:
      if (!is('transfer-encoding')) break
      if (fields.transferEncoding !== undefined) return 'the header transfer-encoding stands twice'
      fields.transferEncoding = value()
  }
  return undefined
}

function understand(
  fields: Fields,
  { status, version }: Pick<AnswerHead, 'status' | 'version'>,
): AnswerHead | NotUnderstood {
  const { contentLength: length, transferEncoding: coding } = fields
  if (status === 101) return { failure: 'the server wants another protocol (101)' }
  if (length !== undefined && !wholeNumber.test(length)) return { failure: 'the content-length is not a number' }
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    return { failure: 'the transfer coding is not chunked' }
  if (coding !== undefined && length !== undefined) return { failure: 'a content-length beside a transfer coding' }
  if (coding !== undefined && version === '1.0') return { failure: 'a transfer coding in HTTP/1.0' }
  const bodiless = status < 200 || status === 204 || status === 304
  if (bodiless && (coding !== undefined || (status !== 304 && Number(length ?? 0) > 0))) {
    return { failure: `a body with status ${status}` }
  }
  const closes = says(fields.connection, 'close')
  const framing = bodiless ? noBody : framingOf(coding, length)
  const keepAlive = keepAliveOf(fields.keepAlive)
  const fleeting = version === '1.0' && !says(fields.connection, 'keep-alive')
  return {
    status,
    version,
    framing,
    closes,
    last: closes || framing.type === 'until-close' || fleeting,
    keepAliveMs: keepAlive.keepAliveMs,
    keepAliveMax: keepAlive.keepAliveMax,
    retryAfter: fields.retryAfter,
    location: fields.location,
    contentCoding: fields.contentCoding,
    echoedKey: fields.idempotencyKey,
  }
}

function says(connection: string | undefined, token: string): boolean {
  const tokens = connection?.toLowerCase() ?? ''
  return tokens.includes(token) && tokens.split(',').some((each) => each.trim() === token)
}

const noBody: Framing = { type: 'length', bytes: 0 }

function framingOf(coding: string | undefined, length: string | undefined): Framing {
  if (coding !== undefined) return { type: 'chunked' }
  return length === undefined ? { type: 'until-close' } : { type: 'length', bytes: Number(length) }
}

type KeepAlive = Pick<AnswerHead, 'keepAliveMs' | 'keepAliveMax'>

/** Most servers send the same value in every answer. */
let lastKeepAlive: { readonly text: string; readonly keepAlive: KeepAlive } | undefined

function keepAliveOf(text: string | undefined): KeepAlive {
  if (text === undefined) return unlimited
  if (text !== lastKeepAlive?.text) {
    const seconds = numberIn(text, /(?:^|[\s,;])timeout\s*=\s*(\d{1,9})/i)
    const keepAlive = {
      keepAliveMs: seconds === undefined ? undefined : seconds * 1000,
      keepAliveMax: numberIn(text, /(?:^|[\s,;])max\s*=\s*(\d{1,9})/i),
    }
    lastKeepAlive = { text, keepAlive }
  }
  return lastKeepAlive.keepAlive
}

const unlimited: KeepAlive = { keepAliveMs: undefined, keepAliveMax: undefined }

function numberIn(text: string, pattern: RegExp): number | undefined {
  const found = pattern.exec(text)
  return found === null ? undefined : Number(found[1])
}
