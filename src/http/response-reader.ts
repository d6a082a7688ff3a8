import type { AnswerHead } from './answer-head.js'
import { ChunkedBody } from './chunked-body.js'
import type { Answer } from './classify.js'
import { HeadReader } from './head-reader.js'
import { maxBodyBytes } from './request-head.js'

/** An answer as it came off a connection. */
export interface ReadAnswer extends Answer, Omit<AnswerHead, keyof Answer | 'framing'> {
  /** Whether the body was read to its end. When the status had come, it counts. */
  readonly complete: boolean
}

/** Longest head, in bytes; Node and nginx allow as much. */
export const maxHeadBytes = 16_384
/** Interim answers (1xx) before one answer. */
const maxInterim = 32
const beginning = 'HTTP/1.'

/**
 * Reads the answers of one connection, strictly: what is not understood ends it, and nothing after it is an answer. Bytes come in by
 * `push`, in pieces of any size; answers are taken out by `next`. Lines end with CRLF: a bare LF is not understood, though RFC 9112
 * would let a reader take it, for then readers differ in where an answer ends.
 *
 * Interim answers are skipped. Of a body nothing is kept beyond 64 KiB: then the status counts, and the connection is over.
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
  /** How far its head has been searched; then how far its body has been read. Both count from `#at`. */
  #searched = 0
  readonly #heads = new HeadReader()
  #head: AnswerHead | undefined
  #bodyAt = 0
  #chunked: ChunkedBody | undefined
  #interim = 0
  #last: ReadAnswer | undefined
  #lastText = ''

  /** No further answer can come. */
  get over(): boolean {
    return this.#over
  }

  /** Bytes are there that belong to no answer yet. */
  get pending(): boolean {
    return this.#at < this.#text.length || this.#interim > 0
  }

  push(chunk: Buffer): void {
    if (this.#over) return
    const more = chunk.toString('latin1')
    this.#text = this.#at === this.#text.length ? more : this.#text.slice(this.#at) + more
    this.#at = 0
  }

  /** The next whole answer; undefined when it has not come, or will not come. */
  next(): ReadAnswer | undefined {
    if (this.#over || this.#at === this.#text.length) return undefined
    if (this.#head === undefined) {
      const end = this.#at + this.#lastText.length
      // Ten times as fast as `startsWith` for texts of this length.
      if (this.#last !== undefined && this.#text.slice(this.#at, end) === this.#lastText) {
        this.#at = end
        this.#searched = 0
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
    const whole = head.framing.type === 'until-close'
    return this.#finish(head, { body: whole ? this.#text.slice(this.#at + this.#bodyAt) : '', complete: whole })
  }

  /** Whether a head is there; interim ones are skipped. */
  #readHead(): boolean {
    for (;;) {
      const end = this.#text.indexOf('\r\n\r\n', this.#at + this.#searched)
      const bytes = (end === -1 ? this.#text.length : end) - this.#at
      if (bytes > maxHeadBytes) return this.#fail('the head is too long')
      if (end === -1) return this.#awaitHead(bytes)
      const head = this.#heads.read(this.#text.slice(this.#at, end + 2))
      if ('failure' in head) return this.#fail(head.failure)
      this.#searched = 0
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
  #awaitHead(bytes: number): false {
    const first = this.#text.slice(this.#at, this.#at + beginning.length)
    if (!beginning.startsWith(first)) return this.#fail('the bytes are not HTTP/1')
    for (let at = this.#at + this.#searched; at < this.#text.length; at++) {
      at = this.#text.indexOf('\n', at)
      if (at === -1) break
      if (at === this.#at || this.#text[at - 1] !== '\r') return this.#fail('a line of the head ends with a bare LF')
    }
    this.#searched = Math.max(0, bytes - 3)
    return false
  }

  #readBody(head: AnswerHead): ReadAnswer | undefined {
    const { framing } = head
    if (framing.type === 'chunked') return this.#readChunks(head)
    const available = this.#text.length - this.#at - this.#bodyAt
    const bytes = framing.type === 'length' ? framing.bytes : available
    if (bytes > maxBodyBytes) return this.#cutOff(head, 'the body is too long')
    if (framing.type === 'until-close' || available < bytes) return undefined
    const bodyAt = this.#at + this.#bodyAt
    return this.#finish(head, { body: this.#text.slice(bodyAt, bodyAt + bytes), complete: true, end: bodyAt + bytes })
  }

  #readChunks(head: AnswerHead): ReadAnswer | undefined {
    this.#chunked ??= new ChunkedBody({ maxBodyBytes, maxTrailerBytes: maxHeadBytes })
    const chunked = this.#chunked
    const end = chunked.read(this.#text, this.#at + this.#bodyAt)
    this.#bodyAt = end - this.#at
    switch (chunked.state) {
      case 'reading':
        return undefined
      case 'done':
        return this.#finish(head, { body: chunked.text, complete: true, end })
      case 'too-long':
        return this.#cutOff(head, 'the body is too long')
      case 'not-understood':
        return this.#cutOff(head, 'the chunks of a body are not understood')
    }
  }

  /** The status of an answer whose body cannot be read. */
  #cutOff(head: AnswerHead, failure: string): ReadAnswer {
    this.failure = failure
    return this.#finish(head, { body: '', complete: false })
  }

  /** Without an end, nothing can follow. */
  #finish(head: AnswerHead, { body, complete, end }: { body: string; complete: boolean; end?: number }): ReadAnswer {
    const answer = answerOf(head, { body: utf8(body), complete })
    if (end === undefined || head.last) this.#over = true
    else if (this.#interim === 0) {
      this.#last = answer
      this.#lastText = this.#text.slice(this.#at, end)
    }
    this.#at = end ?? this.#text.length
    this.#searched = 0
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
    return false
  }
}

/** Field by field, for that is ten times as fast as a spread. */
function answerOf(head: AnswerHead, { body, complete }: { body: string; complete: boolean }): ReadAnswer {
  return {
    status: head.status,
    version: head.version,
    closes: head.closes,
    last: head.last,
    keepAliveMs: head.keepAliveMs,
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
