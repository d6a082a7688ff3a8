import type { Outcome, OutgoingBatch } from '../delivery/sender.js'
import { classify } from './classify.js'
import type { AnswerRun, AwaitingRequests, ReadAnswer } from './read-answer.js'
import type { PrebuiltHead } from './request-head.js'
import type { PartBounds, RequestWriter } from './request-writer.js'
import type { KeySource } from './sender-plan.js'
import { brokenOutcome, endSafely, safeOutcome, settleSafely } from './settlement.js'

/** The reason why the rest of a batch gets no answer. */
export interface BreakOff {
  readonly reason: string
  readonly timedOut?: boolean
}

export interface TransmissionPlan {
  readonly batch: OutgoingBatch
  /** Returns the head for requests that are written now. */
  readonly head: () => PrebuiltHead
  readonly apiKey: KeySource
  readonly parts: PartBounds
}

interface Held {
  readonly outcome: Outcome
  count: number
}

/**
 * One batch on its way over a connection. It counts the requests that are written and answered, and settles each record exactly once. A
 * batch that is too long to go out in one go is written in parts, each after the answers to the part before.
 */
export class Transmission implements AwaitingRequests {
  readonly #plan: TransmissionPlan
  readonly #count: number
  #written = 0
  #answered = 0
  /** Requests that were written last, in one go. */
  #partSize = 0
  #head: PrebuiltHead | undefined
  /** Outcomes of the last answers, until it is certain that they belong to these requests, and the number of these answers. */
  #held: Held[] = []
  #heldCount = 0
  /** True when one of them is not `delivered`: an unexpected answer would then have moved them to the wrong records. */
  #differ = false

  constructor(plan: TransmissionPlan) {
    this.#plan = plan
    this.#count = plan.batch.length
  }

  get batch(): OutgoingBatch {
    return this.#plan.batch
  }

  /** Number of requests that are written and not answered. */
  get awaiting(): number {
    return this.#written - this.#answered
  }

  get finished(): boolean {
    return this.#answered === this.#count
  }

  hasKey(ahead: number, text: string): boolean {
    return this.#plan.batch.isKey(this.#answered + ahead, text)
  }

  /**
   * The next requests, `most` at most, which count as written. They stand in the memory of the writer. Undefined when no header can have
   * this key.
   */
  write(most: number, writer: RequestWriter): Buffer | undefined {
    this.#head = this.#plan.head()
    const { bytes: head } = this.#head
    if (head === undefined) return undefined
    const { batch, parts } = this.#plan
    const from = this.#written
    const to = Math.min(this.#count, from + most)
    const { bytes, end } = writer.write(batch, { head, from, end: to, maxBytes: parts.maxBytes })
    this.#written = end
    this.#partSize = end - from
    parts.wrote({ bytes: bytes.length, requests: this.#partSize })
    if (end < this.#count) batch.parted()
    return bytes
  }

  /**
   * Take the answers to the oldest requests. They are certain when they have the keys of these requests. Otherwise they are held until
   * `settleHeld` believes them.
   */
  take({ answer, count, key }: AnswerRun): void {
    this.#answered += count
    const outcome = saysYes(answer) ? delivered : this.#meaningOf(answer)
    this.#held.push({ outcome, count })
    this.#heldCount += count
    // Then the answers before them belong to their requests, too.
    if (key === 'right') this.#settleAll()
    else if (outcome !== delivered) this.#differ = true
  }

  /** No unexpected answer has come: settle the held outcomes, unless one that comes later could still have moved them. */
  settleHeld(): void {
    if (this.#heldCount > 0 && (!this.#differ || this.awaiting === 0)) this.#settleAll()
  }

  /** An unexpected answer has come: the held outcomes may belong to other records. */
  doubt(reason: string): void {
    const count = this.#heldCount
    this.#forgetHeld()
    this.#settle(this.#answered - count, brokenOutcome({ sent: true, reason, timedOut: false }), count)
  }

  #settleAll(): void {
    const held = this.#held
    let from = this.#answered - this.#heldCount
    this.#forgetHeld()
    for (const { outcome, count } of held) {
      this.#settle(from, outcome, count)
      from += count
    }
  }

  #forgetHeld(): void {
    this.#held = []
    this.#heldCount = 0
    this.#differ = false
  }

  /** No further answer comes. */
  breakOff({ reason, timedOut = false }: BreakOff): void {
    this.#disownUnreadable()
    this.#settleAll()
    const answered = this.#answered
    this.#answered = this.#count
    this.#settle(answered, brokenOutcome({ sent: true, reason, timedOut }), this.#written - answered)
    const unwritten = brokenOutcome({ sent: false, reason, timedOut: false })
    this.#settle(this.#written, unwritten, this.#count - this.#written)
    this.done()
  }

  /**
   * Servers answer bytes that they cannot read with one of these statuses, and close the connection. After several requests in one go that says
   * nothing about a single one: the oldest has no answer.
   */
  #disownUnreadable(): void {
    const last = this.#held.at(-1)
    if (last === undefined || this.#partSize === 1 || !('status' in last.outcome)) return
    if (last.outcome.status !== 400 && last.outcome.status !== 431) return
    last.count--
    this.#heldCount--
    this.#answered--
  }

  /** Every record has its outcome. */
  done(): void {
    endSafely(this.#plan.batch)
  }

  #meaningOf(answer: ReadAnswer): Outcome {
    return safeOutcome(() => meaningOf(answer), { usedKey: this.#head!.apiKey, source: this.#plan.apiKey })
  }

  #settle(index: number, outcome: Outcome, count: number): void {
    if (count > 0) settleSafely(this.#plan.batch, { index, outcome, count })
  }
}

const delivered: Outcome = { type: 'delivered' }
/** The body of the last success. Most services send the same one again and again, and it need not be parsed. */
let yes = ''

function saysYes({ status, body }: ReadAnswer): boolean {
  return status >= 200 && status < 300 && (body === yes || body === '')
}

function meaningOf(answer: ReadAnswer): Outcome {
  const outcome = classify(answer, Date.now())
  if (outcome.type !== 'delivered') return outcome
  yes = answer.body
  return delivered
}
