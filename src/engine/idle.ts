import { randomUUID } from 'node:crypto'
import { emptyLedger, type LaneName, type Ledger } from '../delivery/ledger.js'
import { LedgerBook } from '../delivery/ledger-book.js'
import type { ResolvedOptions } from '../options/options.js'
import type { Drainable, EndParticipant, EndStep, RecordPort } from './ports.js'

/** The drains of a port in which no record ever waits. */
export abstract class SettledPort implements Drainable, EndParticipant {
  readonly closed = false
  abstract stats(): Ledger
  async flush(): Promise<Ledger> {
    return this.stats()
  }
  async park(): Promise<Ledger> {
    return this.stats()
  }
  async close(): Promise<Ledger> {
    return this.stats()
  }
  ending(): void {}
  beforeEnd(): boolean {
    return false
  }
  endSync(): EndStep {
    return () => true
  }
}

/** Takes the records when Sluice is off. It discards them and does not count them. */
export class IdlePort extends SettledPort implements RecordPort {
  readonly id = randomUUID()
  readonly lanes: readonly LaneName[] = []
  readonly options: ResolvedOptions
  readonly memory = new LedgerBook([]).memory

  constructor(options: ResolvedOptions) {
    super()
    this.options = options
  }

  log(): void {}
  winstonLine(): void {}
  pinoLine(): void {}
  value(): void {}
  keyedValue(): void {}
  unmapped(): void {}
  refuse(): void {}
  invalid(): void {}
  misused(): void {}
  stats(): Ledger {
    return emptyLedger
  }
}
