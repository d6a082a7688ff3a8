import type { AnswerHead } from './answer-head.js'
import { ChunkedBody } from './chunked-body.js'
import type { Answer } from './classify.js'
import { HeadReader } from './head-reader.js'
import { maxBodyBytes } from './request-head.js'

/** An answer as it came off a connection. */
export interface ReadAnswer extends Answer, Omit<AnswerHead, keyof Answer | 'framing'> {
  /** True when the body was read to its end. Otherwise the status counts, and the body is the part that came. */
  readonly complete: boolean
}

/** Longest head, in bytes; Node and nginx allow as much. */
export const maxHeadBytes = 16_384
/** Interim answers (1xx) before one answer. */
const maxInterim = 32
const beginning = 'HTTP/1.'
/** A body that is too long is read up to here. Its beginning shows the kind of server that answered. */
const beginningBytes = 1024
/** Bytes on the wire for each byte of a chunked body, at most. A chunk of one byte takes six. */
const rawBytesPerByte = 8

/**
 * Reads the answers of one connection. `push` takes bytes in pieces of any size, `next` returns answers. The reader is strict: bytes that
 * it does not understand end the connection, and nothing after them is an answer. A line must end with CRLF. RFC 9112 allows a bare LF,
 * but readers that take it differ about the end of an answer.
 *
 * Interim answers are skipped. Of a body beyond 64 KiB only the beginning is read: then the status counts, and the connection is over.
 * Reading takes time that is linear in the bytes, whatever the size of the pieces.
 *
 * Bytes are held as a latin1 string, which V8 searches, compares and cuts fastest. Many servers send the same bytes again and again: an
 * answer that equals the one before is found by comparison, and `next` returns the same object.
 */
export class ResponseReader {
  /** The reason where bytes were not understood. */
  failure: string | undefined
  #over = false
  #text = ''
  /** Start of the next answer. */
  #at = 0
  /** The part of a head that has come. V8 joins its pieces when they are searched, so that is done once. */
  #held = ''
  /** Its last three bytes: the end of the head may begin in them. */
  #heldEnd = ''
  readonly #heads = new HeadReader()
  #head: AnswerHead | undefined
  /** Next byte of the body, from `#at`. */
  #bodyAt = 0
  #chunked: ChunkedBody | undefined
  /** True when the first bytes of this answer are no longer held. */
  #dropped = false
  #interim = 0
  #last: ReadAnswer | undefined
  #lastText = ''

  /** True when no further answer can come. */
  get over(): boolean {
    return this.#over
  }

  /** True while there are bytes of an answer that is not whole. */
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

  /** The next whole answer. Undefined when it has not come, or cannot come. */
  next(): ReadAnswer | undefined {
    if (this.#over || this.#at === this.#text.length) return undefined
    if (this.#head === undefined) {
      const end = this.#at + this.#lastText.length
      // For texts of this length it is ten times as fast as `startsWith`.
      if (this.#last !== undefined && this.#text.slice(this.#at, end) === this.#lastText) {
        this.#at = end
        this.#interim = 0
        return this.#last
      }
      if (!this.#readHead()) return undefined
    }
    return this.#readBody(this.#head!)
  }

  /** Call it when the connection has ended. Returns the answer that ends with it, or the status of one that broke off in its body. */
  end(): ReadAnswer | undefined {
    const head = this.#head
    if (this.#over || head === undefined) {
      this.#over = true
      return undefined
    }
    return this.#finish(head, { body: this.#bodySoFar(), complete: head.framing.type === 'until-close' })
  }

  /** Searches only the new bytes for the end of the head, and for bytes that no head may have. */
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

  /** Returns true when a head has come that is not interim. */
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

  /** Hold a part of a head. Fails at once where the bytes cannot become a head. */
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

  /** An answer whose body cannot be read. */
  #cutOff(head: AnswerHead, failure: string): ReadAnswer {
    this.failure = failure
    return this.#finish(head, { body: this.#bodySoFar().slice(0, beginningBytes), complete: false })
  }

  /** Without `end` nothing can follow. */
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

/** Searches from `from` on. */
function endsLineWithBareLf(text: string, from = 0): boolean {
  for (let at = text.indexOf('\n', from); at !== -1; at = text.indexOf('\n', at + 1)) {
    if (at === 0 || text[at - 1] !== '\r') return true
  }
  return false
}

/** Written out field by field: ten times as fast as a spread. */
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
