import { randomUUID } from 'node:crypto'
import { emptyLedger, type LaneName, type Ledger } from '../delivery/ledger.js'
import { LedgerBook } from '../delivery/ledger-book.js'
import type { ResolvedOptions } from '../options/options.js'
import type { EndStep, RecordPort } from './ports.js'

/** Takes the records when Sluice is off. It discards them and does not count them. */
export class IdlePort implements RecordPort {
  readonly id = randomUUID()
  readonly lanes: readonly LaneName[] = []
  readonly options: ResolvedOptions
  readonly memory = new LedgerBook([]).memory
  readonly closed = false

  constructor(options: ResolvedOptions) {
    this.options = options
  }

  line(): void {}
  value(): void {}
  keyedValue(): void {}
  unmapped(): void {}
  refuse(): void {}
  invalid(): void {}
  misused(): void {}
  stats(): Ledger {
    return emptyLedger
  }
  async flush(): Promise<Ledger> {
    return emptyLedger
  }
  async park(): Promise<Ledger> {
    return emptyLedger
  }
  async close(): Promise<Ledger> {
    return emptyLedger
  }
  beforeEnd(): boolean {
    return false
  }
  endSync(): EndStep {
    return () => true
  }
}
