import type { Servers } from './servers.js'
import type { Transactions } from './transactions.js'
import type { WriterSlot } from './writer-slot.js'

/** An open database. */
export interface Database {
  readonly servers: Servers
  readonly transactions: Transactions
  readonly slot: WriterSlot
}
