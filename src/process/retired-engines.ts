import { type LaneReport, type Ledger, sumLedger } from '../delivery/ledger.js'

/** Whatever can say how it stands. */
export interface Figures {
  stats(): Ledger
}

/** Figures of engines that are gone are kept one by one up to this number, beyond it added up by lane. */
const maxRetired = 64

/** The figures of engines that are closed and gone, so that those of the process still add up. */
export class RetiredEngines {
  readonly #retired: Figures[] = []
  readonly #past = new Map<string, LaneReport>()
  #pastInvalid = 0

  /** The last ones are asked again, for something may still come to them. */
  keep(engine: Figures): void {
    this.#retired.push(engine)
    if (this.#retired.length <= maxRetired) return
    const { lanes, invalid } = this.#retired.shift()!.stats()
    this.#pastInvalid += invalid
    for (const lane of lanes) {
      const name = `${lane.kind}/${lane.bucket}`
      const before = this.#past.get(name)
      const sum = before === undefined ? lane : { ...lane, ...sumLedger([before, lane], 0) }
      this.#past.set(name, { ...sum, ...nameAndState(lane) })
    }
  }

  /** Their ledgers, as one. */
  stats(): Ledger {
    const ledgers = this.#retired.map((engine) => engine.stats())
    const invalid = ledgers.reduce((sum, ledger) => sum + ledger.invalid, this.#pastInvalid)
    return sumLedger([...this.#past.values(), ...ledgers.flatMap(({ lanes }) => lanes)], invalid)
  }
}

function nameAndState({ kind, bucket, state, connections, depth, lastError }: LaneReport) {
  return { kind, bucket, state, connections, depth, lastError }
}
