import { type LaneReport, type Ledger, sumLedger } from '../delivery/ledger.js'

/** Anything with a ledger. */
export interface Figures {
  stats(): Ledger
}

/** The ledgers of this number of engines are kept one by one; older ones are added up by lane. */
const maxRetired = 64

/** The ledgers of closed engines, so that the ledger of the process still adds up. */
export class RetiredEngines {
  readonly #retired: Figures[] = []
  readonly #past = new Map<string, LaneReport>()
  #pastInvalid = 0

  /** The last engines are read again: records may still come to them. */
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

  /** The sum of their ledgers. */
  stats(): Ledger {
    const ledgers = this.#retired.map((engine) => engine.stats())
    const invalid = ledgers.reduce((sum, ledger) => sum + ledger.invalid, this.#pastInvalid)
    return sumLedger([...this.#past.values(), ...ledgers.flatMap(({ lanes }) => lanes)], invalid)
  }
}

function nameAndState({ kind, bucket, state, connections, depth, lastError }: LaneReport) {
  return { kind, bucket, state, connections, depth, lastError }
}
