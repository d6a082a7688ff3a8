import { maxHeadBytes } from './answer-head.js'
import type { AnswerRun, AwaitingRequests, ReadAnswer } from './read-answer.js'

/** Fields that say nothing about a record. Many servers, and balancers before them, send another value of them in each answer. */
const varyingField =
  /\r\n((?:x|cf)-[^:\r\n]*|[^:\r\n]*-id|date|age|etag|idempotency-key|report-to|server-timing|set-cookie|traceparent):/gi
const legalValue = /[\t\x20-\x7e\x80-\xff]*/y
const space = 0x20

/**
 * An answer that may come again: with the same bytes, but for the values of fields that vary. To compare it takes a fraction of the time
 * that it takes to read it.
 */
export class AnswerPattern {
  readonly #answer: ReadAnswer
  readonly #text: string
  /** Its text between the values that vary. */
  readonly #stretches: string[] = []
  /** The stretch behind the key of the request; 0 where there is no key. Where it stands twice, the first counts. */
  readonly #behindKey: number = 0
  /** Characters behind the lines of the head. */
  readonly #rest: number
  /** In the answer that was compared last: the value of the key. Blanks may be around it. */
  #key = ''

  /** @param text the whole answer: a head, whose length in characters is given, an empty line and the body */
  constructor(answer: ReadAnswer, text: string, headLength: number) {
    this.#answer = answer
    this.#text = text
    this.#rest = text.length - headLength
    let from = 0
    for (const field of text.slice(0, headLength).matchAll(varyingField)) {
      const at = field.index + field[0].length
      this.#stretches.push(text.slice(from, at))
      if (this.#behindKey === 0 && field[1]!.toLowerCase() === 'idempotency-key')
        this.#behindKey = this.#stretches.length
      from = text.indexOf('\r\n', at)
    }
    this.#stretches.push(text.slice(from))
  }

  /** The answers that stand behind one another from `at` on, as many as requests wait; each has the key of its request, if it has one. */
  find(text: string, at: number, requests: AwaitingRequests): (AnswerRun & { readonly end: number }) | undefined {
    const hasKey = this.#behindKey > 0
    let end = at
    let count = 0
    for (const { awaiting } = requests; count < awaiting; count++) {
      const next = this.#endIn(text, end)
      if (next === -1 || next - this.#rest - end > maxHeadBytes) break
      if (hasKey && !requests.hasKey(count, this.#key)) break
      end = next
    }
    return count === 0 ? undefined : { answer: this.#answer, count, key: hasKey ? 'right' : 'none', end }
  }

  /** The end of an answer like this one that begins at `from`; -1 where there is none. */
  #endIn(text: string, from: number): number {
    const whole = from + this.#text.length
    if (this.#behindKey === 0 && text.slice(from, whole) === this.#text) return whole
    let at = from
    for (let number = 0; number < this.#stretches.length; number++) {
      if (number > 0) {
        legalValue.lastIndex = at
        legalValue.test(text)
        const value = text.charCodeAt(at) === space ? at + 1 : at
        at = legalValue.lastIndex
        if (number === this.#behindKey) this.#key = text.slice(value, at)
      }
      const stretch = this.#stretches[number]!
      const end = at + stretch.length
      if (text.slice(at, end) !== stretch) return -1
      at = end
    }
    return at
  }
}
