import type { AnswerHead } from './answer-head.js'
import { ChunkedBody } from './chunked-body.js'
import type { Answer } from './classify.js'
import { HeadReader } from './head-reader.js'
import { maxBodyBytes } from './request-head.js'

/** An answer as it came off a connection. */
export interface ReadAnswer extends Answer, Omit<AnswerHead, keyof Answer | 'framing'> {
  /** The body was read to its end. When the status had come, it counts; the body is as much as came. */
  readonly complete: boolean
}

/** Longest head, in bytes; Node and nginx allow as much. */
export const maxHeadBytes = 16_384
/** Interim answers (1xx) before one answer. */
const maxInterim = 32
const beginning = 'HTTP/1.'
/** Of a body that is too long, this much is read: who has answered shows at its beginning. */
const beginningBytes = 1024
/** Bytes of a body in chunks on the wire, for each that it may have: a byte a chunk takes six. */
const rawBytesPerByte = 8

/**
 * Reads the answers of one connection, strictly: what is not understood ends it, and nothing after it is an answer. Bytes come in by
 * `push`, in pieces of any size; answers are taken out by `next`. Lines end with CRLF: a bare LF is not understood, though RFC 9112
 * would let a reader take it, for then readers differ in where an answer ends.
 *
 * Interim answers are skipped. A body beyond 64 KiB is read no further than its beginning: then the status counts, and the connection is
 * over. The time that reading takes is linear in the bytes, whatever the pieces in which they come.
 *
 * Bytes are held as a latin1 string, one character each, for that is what V8 searches, compares and cuts fastest. A server's answers
 * are often the same byte for byte: one that is the same as the one before is taken by comparison alone, and is the same object.
 */
export class ResponseReader {
  /** Why nothing more is read, where the bytes were not understood. */
  failure: string | undefined
  #over = false
  #text = ''
  /** Where the answer begins that comes next. */
  #at = 0
  /** A head that has not come whole, in pieces that V8 joins when they are searched: that is done once. */
  #held = ''
  /** Its last three bytes, in which the end of the head may have begun. */
  #heldEnd = ''
  readonly #heads = new HeadReader()
  #head: AnswerHead | undefined
  /** Where the body goes on, from `#at`. */
  #bodyAt = 0
  #chunked: ChunkedBody | undefined
  /** Bytes of this answer are not kept any more. */
  #dropped = false
  #interim = 0
  #last: ReadAnswer | undefined
  #lastText = ''

  /** No further answer can come. */
  get over(): boolean {
    return this.#over
  }

  /** Bytes are there that belong to no answer yet. */
  get pending(): boolean {
    return this.#at < this.#text.length || this.#held !== '' || this.#head !== undefined || this.#interim > 0
  }

  push(chunk: Buffer): void {
    if (this.#over) return
    const more = chunk.toString('latin1')
    if (this.#held !== '') this.#pushToHead(more)
    else {
      this.#text = this.#at === this.#text.length ? more : this.#text.slice(this.#at) + more
      this.#at = 0
    }
  }

  /** The next whole answer; undefined when it has not come, or will not come. */
  next(): ReadAnswer | undefined {
    if (this.#over || this.#at === this.#text.length) return undefined
    if (this.#head === undefined) {
      const end = this.#at + this.#lastText.length
      // Ten times as fast as `startsWith` for texts of this length.
      if (this.#last !== undefined && this.#text.slice(this.#at, end) === this.#lastText) {
        this.#at = end
        this.#interim = 0
        return this.#last
      }
      if (!this.#readHead()) return undefined
    }
    return this.#readBody(this.#head!)
  }

  /** The connection has ended: the answer that ends with it, or the status of one that broke off in its body. */
  end(): ReadAnswer | undefined {
    const head = this.#head
    if (this.#over || head === undefined) {
      this.#over = true
      return undefined
    }
    return this.#finish(head, { body: this.#bodySoFar(), complete: head.framing.type === 'until-close' })
  }

  /** Only the new bytes are searched for the end of the head, and for what no head may have. */
  #pushToHead(more: string): void {
    const from = this.#heldEnd.length
    const searched = this.#heldEnd + more
    this.#held += more
    this.#heldEnd = searched.slice(-3)
    const { length } = this.#held
    const goesOn = length >= beginning.length && length <= maxHeadBytes && !searched.includes('\r\n\r\n')
    if (goesOn && !endsLineWithBareLf(searched, from)) return
    this.#text = this.#held
    this.#at = 0
    this.#held = ''
  }

  /** Whether a head is there; interim ones are skipped. */
  #readHead(): boolean {
    for (;;) {
      const end = this.#text.indexOf('\r\n\r\n', this.#at)
      const bytes = (end === -1 ? this.#text.length : end) - this.#at
      if (bytes > maxHeadBytes) return this.#fail('the head is too long')
      if (end === -1) return this.#awaitHead()
      const head = this.#heads.read(this.#text.slice(this.#at, end + 2))
      if ('failure' in head) return this.#fail(head.failure)
      if (head.status >= 200) {
        this.#head = head
        this.#bodyAt = bytes + 4
        return true
      }
      if (++this.#interim > maxInterim) return this.#fail('too many interim answers')
      this.#at = end + 4
    }
  }

  /** A head that is not whole: what it can never become is not waited for. */
  #awaitHead(): false {
    const head = this.#text.slice(this.#at)
    if (!beginning.startsWith(head.slice(0, beginning.length))) return this.#fail('the bytes are not HTTP/1')
    if (endsLineWithBareLf(head)) return this.#fail('a line of the head ends with a bare LF')
    this.#held = head
    this.#heldEnd = head.slice(-3)
    this.#text = ''
    this.#at = 0
    return false
  }

  #readBody(head: AnswerHead): ReadAnswer | undefined {
    const { framing } = head
    if (framing.type === 'chunked') return this.#readChunks(head)
    const available = this.#text.length - this.#at - this.#bodyAt
    const bytes = framing.type === 'length' ? framing.bytes : available
    if (bytes > maxBodyBytes) {
      return available < beginningBytes ? undefined : this.#cutOff(head, 'the body is too long')
    }
    if (framing.type === 'until-close' || available < bytes) return undefined
    const bodyAt = this.#at + this.#bodyAt
    return this.#finish(head, { body: this.#text.slice(bodyAt, bodyAt + bytes), complete: true, end: bodyAt + bytes })
  }

  #readChunks(head: AnswerHead): ReadAnswer | undefined {
    const maxRawBytes = rawBytesPerByte * maxBodyBytes
    this.#chunked ??= new ChunkedBody({ maxBodyBytes, beginningBytes, maxRawBytes, maxTrailerBytes: maxHeadBytes })
    const chunked = this.#chunked
    const end = chunked.read(this.#text, this.#at + this.#bodyAt)
    switch (chunked.state) {
      case 'reading':
        this.#text = ''
        this.#at = 0
        this.#bodyAt = 0
        this.#dropped = true
        return undefined
      case 'done':
        return this.#finish(head, { body: chunked.text, complete: true, end })
      case 'too-long':
        return this.#cutOff(head, 'the body is too long')
      case 'not-understood':
        return this.#cutOff(head, 'the chunks of a body are not understood')
    }
  }

  #bodySoFar(): string {
    return this.#chunked?.text ?? this.#text.slice(this.#at + this.#bodyAt)
  }

  /** The status of an answer whose body cannot be read. */
  #cutOff(head: AnswerHead, failure: string): ReadAnswer {
    this.failure = failure
    return this.#finish(head, { body: this.#bodySoFar().slice(0, beginningBytes), complete: false })
  }

  /** Without an end, nothing can follow. */
  #finish(head: AnswerHead, { body, complete, end }: { body: string; complete: boolean; end?: number }): ReadAnswer {
    const answer = answerOf(head, { body: utf8(body), complete })
    if (end === undefined || head.last) this.#over = true
    else if (this.#interim === 0 && !this.#dropped) {
      this.#last = answer
      this.#lastText = this.#text.slice(this.#at, end)
    }
    this.#at = end ?? this.#text.length
    this.#dropped = false
    this.#interim = 0
    this.#head = undefined
    this.#chunked = undefined
    return answer
  }

  #fail(failure: string): false {
    this.failure = failure
    this.#over = true
    this.#text = ''
    this.#at = 0
    this.#held = ''
    return false
  }
}

/** Looked for from `from` on. */
function endsLineWithBareLf(text: string, from = 0): boolean {
  for (let at = text.indexOf('\n', from); at !== -1; at = text.indexOf('\n', at + 1)) {
    if (at === 0 || text[at - 1] !== '\r') return true
  }
  return false
}

/** Field by field, for that is ten times as fast as a spread. */
function answerOf(head: AnswerHead, { body, complete }: { body: string; complete: boolean }): ReadAnswer {
  return {
    status: head.status,
    version: head.version,
    closes: head.closes,
    last: head.last,
    keepAliveMs: head.keepAliveMs,
    keepAliveMax: head.keepAliveMax,
    retryAfter: head.retryAfter,
    location: head.location,
    correlationId: head.correlationId,
    echoedKey: head.echoedKey,
    body,
    complete,
  }
}

const beyondAscii = /[\x80-\xff]/

function utf8(bytes: string): string {
  return beyondAscii.test(bytes) ? Buffer.from(bytes, 'latin1').toString('utf8') : bytes
}
