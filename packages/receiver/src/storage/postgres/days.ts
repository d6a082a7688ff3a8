import type pg from 'pg'
import { dayOf, firstIdOf } from './record-ids.js'
import { changingTables } from './schema.js'
import type { Servers } from './servers.js'
import type { Transactions } from './transactions.js'

const dayMs = 86_400_000
/** Partitions are made this many days ahead. */
const daysAhead = 2
/** A drop waits this long for those who read the tables, in ms: whoever writes waits behind it. */
const dropLockMs = 100

/** The days that have partitions, which hold the records that were received on them, in UTC. */
export class Days {
  readonly #servers: Servers
  readonly #transactions: Transactions

  constructor(servers: Servers, transactions: Transactions) {
    this.#servers = servers
    this.#transactions = transactions
  }

  /** Newest first. */
  async list(): Promise<number[]> {
    return (await this.#days()).map(({ day }) => day)
  }

  #days(): Promise<Day[]> {
    return this.#servers.read<Day>('SELECT day, has_errors AS "hasErrors" FROM sluice_days ORDER BY day DESC')
  }

  /** Makes the partitions that are missing for the day of this time and the next ones. */
  async prepare(nowMs: number): Promise<void> {
    const first = dayOf(nowMs)
    const wanted = Array.from({ length: daysAhead + 1 }, (_, ahead) => first + ahead)
    const known = new Set((await this.#days()).filter(({ hasErrors }) => hasErrors).map(({ day }) => day))
    if (wanted.every((day) => known.has(day))) return
    await changingTables(this.#transactions, async (client) => {
      for (const day of wanted) await add(client, day)
    })
  }

  /**
   * Drops the oldest day that has records, and those without before it, if it ended before this time. Returns the number of its records.
   *
   * @throws {StoreUnavailableError} while a search reads the tables: it must be tried again
   */
  async drop(beforeMs: number): Promise<number> {
    for (;;) {
      const day = (await this.list()).at(-1)
      if (day === undefined || (day + 1) * dayMs > beforeMs) return 0
      const records = await this.#drop(day)
      if (records > 0) return records
    }
  }

  #drop(day: number): Promise<number> {
    return changingTables(this.#transactions, async (client) => {
      await client.query(`SET LOCAL lock_timeout = ${dropLockMs}`)
      const { rows } = await client.query<{ records: number }>(
        "SELECT coalesce(sum(records), 0)::bigint AS records FROM sluice_counts WHERE step_ms = 0 AND at_ms = 0 AND value = '' AND day = $1",
        [day],
      )
      const deleted = await client.query('DELETE FROM sluice_days WHERE day = $1', [day])
      // Another receiver was faster.
      if (deleted.rowCount === 0) return 0
      const versions = await versionsOf(client, day)
      for (const table of tables) await client.query(`DROP TABLE ${table}_${day}`)
      // A receiver of an earlier version may have made the day.
      for (const table of errorTables) await client.query(`DROP TABLE IF EXISTS ${table}_${day}`)
      // Now nobody else has locks on the tables: a writer that waited for a row would hold those that the drop waits for.
      await keepVersions(client, versions)
      return rows[0]!.records
    })
  }
}

interface Day {
  readonly day: number
  /** It has the partitions that came with the counts of errors. */
  readonly hasErrors: boolean
}

const tables = ['sluice_records', 'sluice_counts', 'sluice_spans', 'sluice_names'] as const
const errorTables = ['sluice_errors', 'sluice_error_steps', 'sluice_error_kinds'] as const

/** A version of an application, and when it was first seen. */
interface SeenVersion {
  readonly bucket: string
  readonly app: string
  readonly env: string
  readonly version: string
  readonly firstMs: number
}

async function versionsOf(client: pg.ClientBase, day: number): Promise<SeenVersion[]> {
  const { rows } = await client.query<SeenVersion>(
    `SELECT bucket, app, env, version, min(first_ms) AS "firstMs" FROM sluice_errors WHERE kind = '' AND day = $1 GROUP BY 1, 2, 3, 4`,
    [day],
  )
  return rows
}

/** Notes in the first day that has them when versions were first seen: their order stays known. */
async function keepVersions(client: pg.ClientBase, versions: readonly SeenVersion[]): Promise<void> {
  const column = (name: keyof SeenVersion) => versions.map((version) => version[name])
  await client.query(
    `UPDATE sluice_errors e SET first_ms = least(e.first_ms, gone.first_ms)
       FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::float8[]) AS gone (bucket, app, env, version, first_ms)
       WHERE e.kind = '' AND e.day = (SELECT min(day) FROM sluice_errors WHERE kind = '' AND bucket = gone.bucket)
         AND e.bucket = gone.bucket AND e.app = gone.app AND e.env = gone.env AND e.version = gone.version`,
    [column('bucket'), column('app'), column('env'), column('version'), column('firstMs')],
  )
}

async function add(client: pg.ClientBase, day: number): Promise<void> {
  const { rowCount: isNew } = await client.query('INSERT INTO sluice_days (day) VALUES ($1) ON CONFLICT DO NOTHING', [
    day,
  ])
  const { rowCount: lacksErrors } = await client.query(
    'UPDATE sluice_days SET has_errors = true WHERE day = $1 AND NOT has_errors',
    [day],
  )
  const missing = [...(isNew === 0 ? [] : tables), ...(lacksErrors === 0 ? [] : errorTables)]
  for (const table of missing) {
    const [from, to] =
      table === 'sluice_records' ? [firstIdOf(day * dayMs), firstIdOf((day + 1) * dayMs)] : [day, day + 1]
    // A partition that is made in one step would wait for every transaction that runs, and all others for it.
    await client.query(`CREATE TABLE ${table}_${day} (LIKE ${table} INCLUDING ALL)`)
    await client.query(`ALTER TABLE ${table} ATTACH PARTITION ${table}_${day} FOR VALUES FROM (${from}) TO (${to})`)
  }
}
