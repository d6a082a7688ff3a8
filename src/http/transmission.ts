import type { Batch, Outcome } from '../delivery/sender.js'
import { classify } from './classify.js'
import type { PrebuiltHead } from './request-head.js'
import type { ReadAnswer } from './response-reader.js'
import type { KeySource } from './sender-plan.js'
import { afterRenewal, certainOutcome, settleSafely, withoutKey } from './settlement.js'

/** Why the rest of a batch gets no answer. */
export interface BreakOff {
  readonly reason: string
  readonly timedOut?: boolean
}

export interface TransmissionPlan {
  readonly batch: Batch
  /** The head for a request that is written now. */
  readonly head: () => PrebuiltHead
  readonly apiKey: KeySource
  /** Every record has its outcome. Called once. */
  readonly done: () => void
}

/** Written in one go, at most, but for a single record that is longer. */
const maxPartBytes = 262_144

/**
 * One batch on its way over a connection: which of its requests are written, which answered. A batch of great records is written in
 * parts, each after the answers to the one before. It settles each record exactly once.
 */
export class Transmission {
  readonly #plan: TransmissionPlan
  readonly #count: number
  #written = 0
  #answered = 0
  #head: PrebuiltHead | undefined
  /** Outcomes of the answers that may yet prove to belong to other requests, the last of them that of the last answer. */
  #held: Outcome[] = []
  /** Not all of them are alike: until all of the part is answered, an answer too many would have given them to the wrong records. */
  #differ = false
  /** Of the part that was built last: plain ASCII goes out cheapest as latin1. */
  encoding: 'latin1' | 'utf8' = 'latin1'

  constructor(plan: TransmissionPlan) {
    this.#plan = plan
    this.#count = plan.batch.records.length
  }

  /** Requests that are written and not answered. */
  get awaiting(): number {
    return this.#written - this.#answered
  }

  get finished(): boolean {
    return this.#answered === this.#count
  }

  /** Idempotency key of the request whose answer comes next. */
  get nextKey(): string | undefined {
    return this.#plan.batch.records[this.#answered]?.idempotencyKey
  }

  /** The text of the next requests, `most` at most: they count as written. Undefined when they cannot be written with this key. */
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
    // Every character beyond ASCII has more bytes in UTF-8 than it has UTF-16 units.
    this.encoding = bodyBytes === bodyLength ? 'latin1' : 'utf8'
    return text
  }

  /**
   * The answer to the request that has waited longest. `certain`: it bears the key of that request. Any other one is held, until
   * `settleHeld` finds that it can be believed.
   */
  take(answer: ReadAnswer, { certain }: { readonly certain: boolean }): void {
    this.#answered++
    const outcome = saysYes(answer) ? delivered : certainOutcome(() => this.#withKey(meaningOf(answer)))
    this.#held.push(outcome)
    // Then those before it are where they belong, too.
    if (certain) this.#settleAll((each) => each)
    else if (outcome !== delivered) this.#differ = true
  }

  /** Nothing has come that was not asked for: believe what is held, unless an answer too many could still have mixed it up. */
  settleHeld(): void {
    if (this.#held.length > 0 && (!this.#differ || this.awaiting === 0)) this.#settleAll((outcome) => outcome)
  }

  /** Answers have come that belong to no request: of those that are held nobody knows to which they belong. */
  doubt(reason: string): void {
    const outcome: Outcome = { type: 'retry', exchange: 'ambiguous', reason, backPressure: false }
    this.#settleAll(() => outcome)
  }

  #settleAll(meaning: (outcome: Outcome) => Outcome): void {
    const held = this.#held
    const from = this.#answered - held.length
    this.#held = []
    this.#differ = false
    for (const [offset, outcome] of held.entries()) this.#settle(from + offset, meaning(outcome))
  }

  /** No further answer comes. */
  breakOff({ reason, timedOut = false }: BreakOff): void {
    this.#settleAll((outcome) => outcome)
    const written: Outcome = { type: 'retry', exchange: 'ambiguous', reason, backPressure: timedOut }
    const unwritten: Outcome = { type: 'retry', exchange: 'unsent', reason, backPressure: false }
    while (this.#answered < this.#count) {
      const index = this.#answered++
      this.#settle(index, index < this.#written ? written : unwritten)
    }
    this.done()
  }

  done(): void {
    this.#plan.done()
  }

  /** What it means for whoever used this key, and may not tell it. */
  #withKey(outcome: Outcome): Outcome {
    const usedKey = this.#head!.apiKey
    return afterRenewal(withoutKey(outcome, usedKey), { source: this.#plan.apiKey, usedKey })
  }

  #settle(index: number, outcome: Outcome): void {
    settleSafely(this.#plan.batch, { index, outcome })
  }
}

const delivered: Outcome = { type: 'delivered' }
/** A service says yes with the same words again and again: they need not be parsed each time. */
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
