import type { Ledger } from '../../../src/delivery/ledger.js'

/** A drain that must settle by its deadline. */
export class Promised {
  readonly name: string
  readonly ledger: Promise<Ledger>
  settled = false
  #deadline: number
  readonly #timeoutMs: number

  constructor(plan: {
    readonly name: string
    readonly ledger: Promise<Ledger>
    readonly at: number
    readonly timeoutMs: number
  }) {
    this.name = plan.name
    this.ledger = plan.ledger
    this.#timeoutMs = plan.timeoutMs
    this.#deadline = plan.at + plan.timeoutMs
    const settle = () => {
      this.settled = true
    }
    void plan.ledger.then(settle, settle)
  }

  /** The latest moment at which it may settle. */
  get deadline(): number {
    return this.#deadline
  }

  /** Its thread did nothing until now: it begins again. */
  allow(now: number): void {
    if (!this.settled) this.#deadline = now + this.#timeoutMs
  }
}
