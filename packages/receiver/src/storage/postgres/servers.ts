import { Socket } from 'node:net'
import pg from 'pg'
import { StoreUnavailableError } from '../store-unavailable.js'
import { pidOf, queryUntil } from './cancelled-query.js'
import { isLocked, isTooSlow, messageOf, storageError, waitedForConnection } from './database-errors.js'
import { type DatabaseServers, readDatabaseUrl } from './database-url.js'

/** A server that has not answered after this time is left. */
const connectMs = 3000
/** After a search without success the next one begins no sooner, in ms. */
const searchedMs = 250
/** A query that reads may take this long, in ms. */
const readMs = 10_000
/** A connection that is quiet is tried after this time, so that one that has vanished without a word is found, in ms. */
const quietMs = 10_000
/** A write waits this long for a row that another transaction has locked, in ms. */
const lockMs = 5000
/** The server ends a transaction whose process has sent nothing for this time, in ms: the process stands still, and others wait for its rows. */
const standstillMs = 8000

/** Commits of records that run at once: of groups, and of records that go alone. */
export const recordCommits = { ofGroups: 4, ofOne: 2 } as const
/** Most connections for writing: those of records, and three for everything else. */
const maxWriting = recordCommits.ofGroups + recordCommits.ofOne + 3
/** Most connections for questions that are cheap, and for searches: one runs, and one may still be ended at the server. */
const maxReading = { ofReads: 4, ofSearches: 2 } as const

/** Connections to one server. */
interface Pools {
  readonly url: string
  readonly write: pg.Pool
  /** For what the indexes answer at once. */
  readonly read: pg.Pool
  /** For the rest: nothing else waits behind it. */
  readonly search: pg.Pool
}

/** Asks the database. */
export type Ask = <Row extends pg.QueryResultRow>(sql: string, values?: readonly unknown[]) => Promise<Row[]>

/** The use of the connections to a database of one or more servers. Finds the server that takes writes, and finds it again when it changes. */
export class Servers {
  readonly name: string
  readonly #servers: DatabaseServers
  #pools: Promise<Pools> | undefined
  /** Index of the last server that took writes. */
  #last = 0
  #isProbing = false
  #isClosed = false
  /** The connections of all open pools. */
  readonly #sockets = new Set<Socket>()

  /** @throws {TypeError} for a URL that cannot be used */
  constructor(url: string) {
    this.#servers = readDatabaseUrl(url)
    this.name = this.#servers.name
  }

  /** A connection for writing. The caller releases it; with an error it is closed. @throws {StoreUnavailableError} */
  async connect(): Promise<pg.PoolClient> {
    const pools = this.#current()
    try {
      return await (await pools).write.connect()
    } catch (error) {
      const failure = this.#failed(error, pools)
      // This thread may have been busy with large records meanwhile, and the connection is there by now.
      if (waitedForConnection(error)) return (await pools).write.connect().catch(() => Promise.reject(failure))
      throw failure
    }
  }

  /** Reads from the server that takes writes: it has everything that was acknowledged. @throws {StoreUnavailableError} */
  read<Row extends pg.QueryResultRow>(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.#ask(({ read }) => read.query<Row>(sql, [...values]))
  }

  /**
   * Reads as `read` does, over other connections, what may take long.
   *
   * @param signal ends the queries, also at the server. They then reject with its reason.
   */
  searching(signal: AbortSignal | undefined): Ask {
    return <Row extends pg.QueryResultRow>(sql: string, values: readonly unknown[] = []) =>
      this.#ask(
        async (pools) =>
          signal === undefined
            ? pools.search.query<Row>(sql, [...values])
            : queryUntil<Row>(signal, { ...pools, sql, values: [...values] }),
        signal,
      )
  }

  async #ask<Row extends pg.QueryResultRow>(
    question: (pools: Pools) => Promise<pg.QueryResult<Row>>,
    signal?: AbortSignal,
  ): Promise<Row[]> {
    const pools = this.#current()
    try {
      return (await question(await pools)).rows
    } catch (error) {
      if (signal?.aborted === true) throw signal.reason
      if (isTooSlow(error)) {
        const message = `the query took longer than ${readMs / 1000} s: narrow it, for example by since and until`
        throw new StoreUnavailableError(message, { cause: error })
      }
      throw this.#failed(error, pools)
    }
  }

  /** Callers call this after a failure of a transaction. Returns the error for the caller. */
  failed(error: unknown): unknown {
    return this.#failed(error, this.#pools)
  }

  /** Looks if the server still takes writes. If it does not, the next use looks for another one. */
  suspect(): void {
    if (this.#pools !== undefined) this.#probe(this.#pools)
  }

  /** False if the server that takes writes has nothing to do for the connection. True also where it does not say so. */
  async worksFor(client: pg.ClientBase): Promise<boolean> {
    try {
      const { url } = await this.#current()
      const sql = "SELECT 1 FROM pg_stat_activity WHERE pid = $1 AND state = 'active'"
      return (await askOnce(url, sql, [pidOf(client)])).length > 0
    } catch {
      return true
    }
  }

  /** Closes all connections: at once where they are idle. */
  async close(): Promise<void> {
    this.#isClosed = true
    const pools = await this.#pools?.catch(() => undefined)
    if (pools !== undefined) await ended(pools)
    // Connections that were left earlier may still wait for a server that does not answer. They must not keep the process.
    for (const socket of this.#sockets) socket.unref()
  }

  /** Breaks all connections: whatever waits for a server that does not answer fails. No use succeeds from now on. */
  abandon(): void {
    void this.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  #failed(error: unknown, pools: Promise<Pools> | undefined): unknown {
    const seen = storageError(error, this.name)
    if (seen instanceof StoreUnavailableError && pools !== undefined && !isLocked(error)) this.#probe(pools)
    return seen
  }

  /**
   * The connections stay while their server takes writes. Other connections in their place would not be better, and the server may still wait with
   * those that are in use: for a standby, without end.
   */
  #probe(pools: Promise<Pools>): void {
    if (this.#isProbing || pools !== this.#pools) return
    this.#isProbing = true
    void pools
      .then(({ url }) => takesWrites(url))
      .catch(() => false)
      .then((isGood) => {
        this.#isProbing = false
        if (isGood || pools !== this.#pools) return
        this.#pools = undefined
        pools.then(ended).catch(() => {})
      })
  }

  #current(): Promise<Pools> {
    if (this.#isClosed) return Promise.reject(new StoreUnavailableError(`the database ${this.name} is closed`))
    if (this.#pools === undefined) {
      const pools = this.#choose()
      this.#pools = pools
      pools.catch(() => {
        const forget = () => {
          if (this.#pools === pools) this.#pools = undefined
        }
        setTimeout(forget, searchedMs).unref()
      })
    }
    return this.#pools
  }

  async #choose(): Promise<Pools> {
    const { urls } = this.#servers
    const reasons: string[] = []
    for (let turn = 0; turn < urls.length; turn++) {
      const index = (this.#last + turn) % urls.length
      const url = urls[index]!
      try {
        if (!(await takesWrites(url))) throw new Error('it is a standby')
        this.#last = index
        return this.#open(url)
      } catch (error) {
        reasons.push(`${new URL(url).host}: ${messageOf(error)}`)
      }
    }
    throw new StoreUnavailableError(`no server of the database ${this.name} takes writes (${reasons.join('; ')})`)
  }

  #open(url: string): Pools {
    const shared = {
      connectionString: url,
      connectionTimeoutMillis: connectMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: quietMs,
      types: { getTypeParser },
      application_name: 'sluice-receiver',
      stream: () => this.#socket(),
    }
    const write = new pg.Pool({
      ...shared,
      max: maxWriting,
      lock_timeout: lockMs,
      idle_in_transaction_session_timeout: standstillMs,
      // A transaction may send several statements before their answers are there.
      pipeline: true,
      onConnect: demandDurability,
    })
    // The queries that read have been written for their indexes. Without statistics the planner would read whole tables.
    const options = '-c enable_seqscan=off -c jit=off'
    const times = { statement_timeout: readMs, query_timeout: readMs + connectMs }
    const read = new pg.Pool({ ...shared, ...times, max: maxReading.ofReads, options })
    // A search may wait for others.
    const waits = { max: maxReading.ofSearches, connectionTimeoutMillis: readMs }
    const search = new pg.Pool({ ...shared, ...times, ...waits, options })
    for (const pool of [write, read, search]) {
      // Without listeners an error of an idle connection, or of one between two queries, would end the process. The next use finds it.
      pool.on('error', () => {})
      pool.on('connect', (client) => client.on('error', () => {}))
    }
    return { url, write, read, search }
  }

  #socket(): Socket {
    const socket = new Socket()
    this.#sockets.add(socket)
    return socket.once('close', () => this.#sockets.delete(socket))
  }
}

/** A commit must wait for the disk, whatever the database or the user has as its default. A stricter setting stays. */
async function demandDurability(client: pg.ClientBase): Promise<void> {
  const text = `SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') IN ('off', 'local')`
  // The pool does not bound this itself. The types of pg lack the time of one query.
  const query: pg.QueryConfig & { readonly query_timeout: number } = { text, query_timeout: connectMs }
  await client.query(query)
}

async function takesWrites(url: string): Promise<boolean> {
  const [row] = await askOnce<{ standby: boolean }>(url, 'SELECT pg_is_in_recovery() AS standby')
  return row?.standby === false
}

/** Asks over a connection of its own. */
async function askOnce<Row extends pg.QueryResultRow>(
  url: string,
  sql: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: connectMs,
    query_timeout: connectMs,
    application_name: 'sluice-receiver',
  })
  client.on('error', () => {})
  try {
    await client.connect()
    return (await client.query<Row>(sql, [...values])).rows
  } finally {
    client.end().catch(() => {})
  }
}

async function ended({ write, read, search }: Pools): Promise<void> {
  await Promise.allSettled([write.end(), read.end(), search.end()])
}

/** Whole numbers of 64 bits are numbers: ids, times and counts are all within 2^53. */
const int8 = 20
const getTypeParser: typeof pg.types.getTypeParser = (id: number, format?: unknown) =>
  id === int8 ? Number : (pg.types.getTypeParser as (id: number, format?: unknown) => unknown)(id, format)
