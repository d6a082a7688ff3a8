import { say } from '../../stderr.js'
import { KnownProjects } from '../known-projects.js'
import type { RecordStorage } from '../record-storage.js'
import { isNewestPage } from '../records/field-conditions.js'
import type { Clocks } from '../steady-time.js'
import type { Storage } from '../storage.js'
import { StoreUnavailableError } from '../store-unavailable.js'
import { ContentTables } from '../tables/content-tables.js'
import { KeyTable } from '../tables/key-table.js'
import { ProjectTable } from '../tables/project-table.js'
import { SessionTable } from '../tables/session-table.js'
import { ViewTable } from '../tables/view-table.js'
import { forgetAttempts, PostgresAttempts } from './attempts.js'
import { Days } from './days.js'
import { foundErrors } from './error-reader.js'
import { Hurry } from './hurry.js'
import { asking, type Database, PostgresRows } from './postgres-rows.js'
import { RecordAppends } from './record-appends.js'
import { firstIdOf } from './record-ids.js'
import { RecordReader } from './record-reader.js'
import { RecordTail } from './record-tail.js'
import { migrate } from './schema.js'
import { Servers } from './servers.js'
import { Transactions } from './transactions.js'
import { WriterSlot } from './writer-slot.js'

/** Other receivers may store records: live readers look for them this often, in ms. */
const othersMs = 500
const renewMs = 5000
const tidyMs = 60_000
/** Rows that are deleted at once. */
const deletedAtOnce = 5000
/** Live readers look back ten minutes. */
const batchesKeptMs = 3_600_000
/** A close waits this long for a server that does not answer, in ms. */
const closeMs = 10_000

export interface PostgresOptions {
  /** A write that is not durable after this time fails, in ms. */
  readonly commitMs?: number
}

/** A database of PostgreSQL, or one that speaks as it does. Any number of receivers may use it at once. */
export class PostgresStorage implements Storage {
  /** Identity of the database. */
  readonly store: string
  readonly servers: Servers
  readonly records: RecordStorage
  readonly content: ContentTables
  readonly projects: KnownProjects
  readonly keys: KeyTable
  readonly pageSessions: SessionTable
  readonly views: ViewTable
  readonly clocks: Clocks
  readonly #transactions: Transactions
  readonly #slot: WriterSlot
  readonly #days: Days
  readonly #appends: RecordAppends
  readonly #timers: readonly NodeJS.Timeout[]

  private constructor(database: Database, store: string) {
    const { servers, transactions, slot } = database
    const nowMs = () => slot.nowMs()
    const days = new Days(servers, transactions)
    const appends = new RecordAppends({ transactions, days, slot })
    const searching = (signal: AbortSignal | undefined, ms?: number) => {
      const hurry = ms === undefined ? undefined : new Hurry(servers, { ms, signal })
      return new RecordReader(asking(servers.searching(signal)), { days, hurry })
    }
    const reader = new RecordReader(
      asking((text, values) => servers.read(text, values)),
      { days },
    )
    const tail = new RecordTail(servers, { store, nowMs })
    this.store = store
    this.servers = servers
    this.#transactions = transactions
    this.#slot = slot
    this.#days = days
    this.#appends = appends
    this.records = {
      append: (record) => appends.append(record),
      repeated: (bucket) => appends.repeated(bucket),
      onCommit: (listener) => appends.onCommit(listener),
      othersMs,
      read: (query, signal) => (isNewestPage(query) ? reader : searching(signal, query.patienceMs)).read(query),
      facets: (query, signal) => searching(signal).facets(query),
      counts: (query, signal) => searching(signal).counts(query),
      errors: (query, signal) => foundErrors(query, asking(servers.searching(signal))),
      position: (query) => tail.position(query),
      arrivals: (query) => tail.arrivals(query),
      missed: (query) => tail.missed(query),
      forget: (receivedBeforeMs) => days.drop(receivedBeforeMs),
      oldest: () => tail.oldest(),
      receiptsAround: (ms) => tail.receiptsAround(ms),
    }
    this.clocks = { wall: nowMs, monotonic: () => performance.now() }
    const rows = new PostgresRows(database)
    this.content = new ContentTables(rows, new PostgresAttempts(rows))
    this.projects = new KnownProjects(new ProjectTable(rows))
    this.keys = new KeyTable(rows)
    this.pageSessions = new SessionTable(rows)
    this.views = new ViewTable(rows)
    this.#timers = [this.#repeat(renewMs, () => slot.renew()), this.#repeat(tidyMs, () => this.#tidy())]
  }

  /**
   * Makes or upgrades the tables, and begins.
   *
   * @param url `postgres://user:password@host/database`; of several hosts with commas between them the one that takes writes is used
   * @throws {TypeError} for a URL that cannot be used
   * @throws {StoreUnavailableError} if the database cannot be reached
   * @throws if a newer version has made the tables, or the database has another encoding than UTF8
   */
  static async open(url: string, { commitMs = 10_000 }: PostgresOptions = {}): Promise<PostgresStorage> {
    const servers = new Servers(url)
    try {
      const [{ encoding } = {}] = await servers.read<{ encoding: string }>(
        "SELECT current_setting('server_encoding') AS encoding",
      )
      if (encoding !== 'UTF8') {
        throw new Error(`${servers.name} has the encoding ${encoding}: expected UTF8, as records have any text`)
      }
      const transactions = new Transactions(servers, { deadlineMs: commitMs })
      await migrate(transactions)
      const slot = await WriterSlot.claim(servers, transactions)
      await new Days(servers, transactions).prepare(slot.nowMs())
      const [identity] = await servers.read<{ id: string }>('SELECT id FROM sluice_identity')
      return new PostgresStorage({ servers, transactions, slot }, identity!.id)
    } catch (error) {
      await servers.close()
      if (!(error instanceof StoreUnavailableError)) throw error
      const remedy = 'check that PostgreSQL runs there, and its URL (--database or SLUICE_DATABASE)'
      throw new StoreUnavailableError(`${error.message}; ${remedy}`, { cause: error })
    }
  }

  /** Time of the database since 1970, in ms. */
  nowMs(): number {
    return this.#slot.nowMs()
  }

  /** Writes, and waits until that is durable. */
  check(): Promise<void> {
    return this.#slot.renew()
  }

  async bytes(): Promise<number> {
    const [row] = await this.servers.read<{ bytes: number }>('SELECT pg_database_size(current_database()) AS bytes')
    return row!.bytes
  }

  abandon(): void {
    this.servers.abandon()
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    const timer = setTimeout(() => this.abandon(), closeMs)
    await this.#appends.settled()
    await this.#slot.release().catch(() => {})
    await this.servers.close()
    clearTimeout(timer)
  }

  /** Makes the partitions of the next days, and deletes what is not needed any more. */
  async #tidy(): Promise<void> {
    const nowMs = this.#slot.nowMs()
    await this.#days.prepare(nowMs)
    const limit = deletedAtOnce
    while ((await this.#transactions.run((client) => forgetAttempts(client, { nowMs, limit }))) === limit);
    await this.#transactions.run((client) =>
      client.query('DELETE FROM sluice_batches WHERE id < $1', [firstIdOf(nowMs - batchesKeptMs)]),
    )
  }

  /** That the database is away is no news: requests tell it. The next round tries again. */
  #repeat(everyMs: number, work: () => Promise<void>): NodeJS.Timeout {
    let isRunning = false
    let told: string | undefined
    return setInterval(() => {
      if (isRunning) return
      isRunning = true
      void work()
        .catch((error: Error) => {
          if (error instanceof StoreUnavailableError || error.message === told) return
          told = error.message
          say(`work on the database ${this.servers.name} has failed: ${told}`)
        })
        .finally(() => {
          isRunning = false
        })
    }, everyMs).unref()
  }
}
