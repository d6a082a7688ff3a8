import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { StoreUnavailableError } from '../store-unavailable.js'
import { RecordIds, writerSlots } from './record-ids.js'
import type { Servers } from './servers.js'
import type { Transactions } from './transactions.js'

/** The owner of a slot has lost it when nobody has seen the owner for this time, in ms. */
const lostMs = 60_000
/** More connections than a process has at once. */
const writersPerSlot = 64

/**
 * The number under which this process makes ids, and the time of the database. It is a lease: whoever takes it over from a process that has been frozen
 * makes later ids, as both take the time from the database.
 */
export class WriterSlot {
  readonly #servers: Servers
  readonly #transactions: Transactions
  readonly #owner = randomUUID()
  readonly #ids: RecordIds
  #slot = 0
  /** The time of the database less the monotonic time of this process, in ms. */
  #aheadMs = 0
  /** Numbers of the connections. */
  readonly #numbers = new Map<pg.ClientBase, number>()

  private constructor(servers: Servers, transactions: Transactions) {
    this.#servers = servers
    this.#transactions = transactions
    this.#ids = new RecordIds({ slot: 0, nowMs: () => this.nowMs() })
  }

  /** @throws {StoreUnavailableError} if all slots are in use */
  static async claim(servers: Servers, transactions: Transactions): Promise<WriterSlot> {
    const slot = new WriterSlot(servers, transactions)
    await slot.renew()
    return slot
  }

  /** Time of the database since 1970, in whole ms. */
  nowMs(): number {
    return Math.floor(this.#aheadMs + performance.now())
  }

  takeId(): number {
    return this.#ids.take()
  }

  /**
   * The number of a connection, which no other connection of any process has. Transactions with numbers of their own have rows of their own to count
   * in: none waits for another.
   */
  writerOf(client: pg.ClientBase): number {
    let number = this.#numbers.get(client)
    if (number === undefined) {
      number = smallestFree(new Set(this.#numbers.values()))
      this.#numbers.set(client, number)
      client.once('end', () => this.#numbers.delete(client))
    }
    return this.#slot * writersPerSlot + (number % writersPerSlot)
  }

  /** Tells the database that this process runs, and takes the time from it. A slot that was lost is replaced. */
  async renew(): Promise<void> {
    const slot = await this.#transactions.run(async (client) => {
      const begin = performance.now()
      const { rows: times } = await client.query<{ now: number }>(
        'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now',
      )
      const end = performance.now()
      const { now } = times[0]!
      this.#aheadMs = now - (begin + end) / 2
      const { rowCount } = await client.query('UPDATE sluice_writers SET seen_ms = $1 WHERE slot = $2 AND owner = $3', [
        now,
        this.#slot,
        this.#owner,
      ])
      if (rowCount === 1) return this.#slot
      for (;;) {
        const { rows: found } = await client.query<{ free: number | null; slot: number | null }>(
          `WITH free AS (
             SELECT free AS slot FROM generate_series(0, $4::integer - 1) AS free
               WHERE NOT EXISTS (SELECT 1 FROM sluice_writers w WHERE w.slot = free AND w.seen_ms BETWEEN $3 AND $2 + ($2 - $3))
               ORDER BY free LIMIT 1
           ), claimed AS (
             INSERT INTO sluice_writers (slot, owner, seen_ms) SELECT slot, $1, $2 FROM free
             ON CONFLICT (slot) DO UPDATE SET owner = excluded.owner, seen_ms = excluded.seen_ms
               WHERE sluice_writers.seen_ms NOT BETWEEN $3 AND $2 + ($2 - $3)
             RETURNING slot
           )
           SELECT (SELECT slot FROM free) AS free, (SELECT slot FROM claimed) AS slot`,
          [this.#owner, now, now - lostMs, writerSlots],
        )
        const { free, slot: claimed } = found[0]!
        if (claimed !== null) return claimed
        if (free === null) {
          throw new StoreUnavailableError(
            `${writerSlots} receivers use the database ${this.#servers.name}: no more can`,
          )
        }
        // Another process has claimed it at the same time: the next look sees that.
      }
    })
    this.#slot = slot
    this.#ids.slot = slot
  }

  /** Gives the slot back. */
  async release(): Promise<void> {
    const sql = 'DELETE FROM sluice_writers WHERE slot = $1 AND owner = $2'
    await this.#transactions.run((client) => client.query(sql, [this.#slot, this.#owner]))
  }
}

function smallestFree(taken: ReadonlySet<number>): number {
  let number = 0
  while (taken.has(number)) number++
  return number
}
