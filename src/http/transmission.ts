import type { Batch, Outcome } from '../delivery/sender.js'
import { classify } from './classify.js'
import type { PrebuiltHead } from './request-head.js'
import type { ReadAnswer } from './response-reader.js'
import type { KeySource } from './sender-plan.js'
import { brokenOutcome, safeOutcome, settleSafely } from './settlement.js'

/** The reason why the rest of a batch gets no answer. */
export interface BreakOff {
  readonly reason: string
  readonly timedOut?: boolean
}

export interface TransmissionPlan {
  readonly batch: Batch
  /** Returns the head for requests that are written now. */
  readonly head: () => PrebuiltHead
  readonly apiKey: KeySource
  /** Called once, when every record has its outcome. */
  readonly done: () => void
}

/** Most bytes that are written in one go. A single record may be longer. */
const maxPartBytes = 262_144

/**
 * One batch on its way over a connection. It counts the requests that are written and answered, and settles each record exactly once. A
 * batch of large records is written in parts, each after the answers to the part before.
 */
export class Transmission {
  readonly #plan: TransmissionPlan
  readonly #count: number
  #written = 0
  #answered = 0
  #head: PrebuiltHead | undefined
  /** Outcomes of the last answers, until it is certain that they belong to these requests. */
  #held: Outcome[] = []
  /** True when one of them is not `delivered`: an unexpected answer would then have moved them to the wrong records. */
  #differ = false
  /** Encoding of the part that was built last. For ASCII latin1 is the cheapest. */
  encoding: 'latin1' | 'utf8' = 'latin1'

  constructor(plan: TransmissionPlan) {
    this.#plan = plan
    this.#count = plan.batch.records.length
  }

  /** Number of requests that are written and not answered. */
  get awaiting(): number {
    return this.#written - this.#answered
  }

  get finished(): boolean {
    return this.#answered === this.#count
  }

  /** Idempotency key of the request that is answered next. */
  get nextKey(): string | undefined {
    return this.#plan.batch.records[this.#answered]?.idempotencyKey
  }

  /** The text of the next requests, `most` at most, which count as written. Undefined when no header can have this key. */
  write(most: number): string | undefined {
    this.#head = this.#plan.head()
    const { text: head } = this.#head
    if (head === undefined) return undefined
    const { records } = this.#plan.batch
    const end = Math.min(this.#count, this.#written + most)
    let text = ''
    let bodyBytes = 0
    let bodyLength = 0
    let index = this.#written
    do {
      const { body, bytes, idempotencyKey } = records[index]!
      text += `${head}${idempotencyKey}\r\ncontent-length: ${bytes}\r\n\r\n${body}`
      bodyBytes += bytes
      bodyLength += body.length
      index++
    } while (index < end && text.length + records[index]!.bytes < maxPartBytes)
    this.#written = index
    if (index < this.#count) this.#plan.batch.parted?.()
    // Every character beyond ASCII has more bytes in UTF-8 than UTF-16 units.
    this.encoding = bodyBytes === bodyLength ? 'latin1' : 'utf8'
    return text
  }

  /**
   * Take the answer to the oldest request. It is `certain` when it has the key of that request. Otherwise it is held until `settleHeld`
   * believes it.
   */
  take(answer: ReadAnswer, { certain }: { readonly certain: boolean }): void {
    this.#answered++
    const outcome = saysYes(answer) ? delivered : this.#meaningOf(answer)
    this.#held.push(outcome)
    // Then the answers before it belong to their requests, too.
    if (certain) this.#settleAll()
    else if (outcome !== delivered) this.#differ = true
  }

  /** No unexpected answer has come: settle the held outcomes, unless one that comes later could still have moved them. */
  settleHeld(): void {
    if (this.#held.length > 0 && (!this.#differ || this.awaiting === 0)) this.#settleAll()
  }

  /** An unexpected answer has come: the held outcomes may belong to other records. */
  doubt(reason: string): void {
    this.#settleAll(brokenOutcome({ sent: true, reason, timedOut: false }))
  }

  /** Settle the held outcomes, or this one in place of each. */
  #settleAll(doubt?: Outcome): void {
    const held = this.#held
    const from = this.#answered - held.length
    this.#held = []
    this.#differ = false
    for (const [offset, outcome] of held.entries()) this.#settle(from + offset, doubt ?? outcome)
  }

  /** No further answer comes. */
  breakOff({ reason, timedOut = false }: BreakOff): void {
    this.#settleAll()
    const written = brokenOutcome({ sent: true, reason, timedOut })
    const unwritten = brokenOutcome({ sent: false, reason, timedOut: false })
    while (this.#answered < this.#count) {
      const index = this.#answered++
      this.#settle(index, index < this.#written ? written : unwritten)
    }
    this.done()
  }

  done(): void {
    this.#plan.done()
  }

  #meaningOf(answer: ReadAnswer): Outcome {
    return safeOutcome(() => meaningOf(answer), { usedKey: this.#head!.apiKey, source: this.#plan.apiKey })
  }

  #settle(index: number, outcome: Outcome): void {
    settleSafely(this.#plan.batch, { index, outcome })
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
