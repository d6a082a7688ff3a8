import { type AnswerHead, maxHeadBytes, readHead } from './answer-head.js'
import { AnswerPattern } from './answer-pattern.js'
import { ChunkedBody } from './chunked-body.js'
import { type AnswerRun, type AwaitingRequests, answerOf, type ReadAnswer, runOfOne } from './read-answer.js'
import { beginningBytes, maxBodyBytes } from './request-head.js'

/** Where all answers differ, only one in this number becomes a pattern: making a pattern costs half as much as reading an answer. */
const unlikePerPattern = 8
/** Interim answers (1xx) before one answer. */
const maxInterim = 32
const beginning = 'HTTP/1.'
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
 * Bytes are held as a latin1 string, which V8 searches, compares and cuts fastest. Many servers send the same bytes again and again, or
 * the same but for the key of the request and fields that say nothing about a record, such as `date`. Such answers are found by comparison,
 * many at once, and `next` returns the same object for them.
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
  #head: AnswerHead | undefined
  /** Next byte of the body, from `#at`. */
  #bodyAt = 0
  #chunked: ChunkedBody | undefined
  /** True when the first bytes of this answer are no longer held. */
  #dropped = false
  #interim = 0
  /** Answers that may come again: the last answer, and the answer before it. */
  #pattern: AnswerPattern | undefined
  #other: AnswerPattern | undefined
  /** Answers that were like none before. */
  #unlike = 0

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

  /** The next whole answers that say the same, to `requests`. Undefined when none has come, or can come. */
  next(requests: AwaitingRequests): AnswerRun | undefined {
    if (this.#over || this.#at === this.#text.length) return undefined
    if (this.#head === undefined) {
      const run = this.#again(requests)
      if (run !== undefined) return run
      if (!this.#readHead()) return undefined
    }
    const answer = this.#readBody(this.#head!)
    return answer && runOfOne(answer, requests)
  }

  /** Call it when the connection has ended. Returns the answer that ends with it, or the status of one that broke off in its body. */
  end(requests: AwaitingRequests): AnswerRun | undefined {
    const head = this.#head
    if (this.#over || head === undefined) {
      this.#over = true
      return undefined
    }
    const complete = head.framing.type === 'until-close'
    return runOfOne(this.#finish(head, { body: this.#bodySoFar(), complete }), requests)
  }

  /** Answers like one that has come before. */
  #again(requests: AwaitingRequests): AnswerRun | undefined {
    let run = this.#pattern?.find(this.#text, this.#at, requests)
    if (run === undefined) {
      run = this.#other?.find(this.#text, this.#at, requests)
      if (run === undefined) return undefined
      ;[this.#pattern, this.#other] = [this.#other, this.#pattern]
    }
    this.#at = run.end
    this.#interim = 0
    return run
  }

  /** Searches only the new bytes for the end of the head, and for bytes that no head may have. */
  #pushToHead(more: string): void {
    const from = this.#heldEnd.length
    const searched = this.#heldEnd + more
    const hasBegun = this.#held.length >= beginning.length
    this.#held += more
    this.#heldEnd = searched.slice(-3)
    const goesOn = hasBegun && this.#held.length <= maxHeadBytes && !searched.includes('\r\n\r\n')
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
      const head = readHead(this.#text.slice(this.#at, end))
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
    const answer = answerOf(head, { bytes: body, complete })
    if (end === undefined || head.last) this.#over = true
    else if (this.#interim === 0 && !this.#dropped && this.#unlike++ % unlikePerPattern === 0) {
      this.#other = this.#pattern
      this.#pattern = new AnswerPattern(answer, this.#text.slice(this.#at, end), this.#bodyAt - 4)
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
