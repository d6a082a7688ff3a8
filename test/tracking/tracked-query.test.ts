import { DatabaseSync } from '@photostructure/sqlite'
import knex, { type Knex } from 'knex'
// @ts-expect-error knex has no types for its dialects
import Sqlite from 'knex/lib/dialects/sqlite3/index.js'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Tracked, trackedBy } from '../../src/tracking/tracker.js'

let recorded: number[]
let database: InstanceType<typeof DatabaseSync>
let db: Knex
beforeEach(async () => {
  recorded = []
  database = new DatabaseSync(':memory:')
  database.exec('create table orders (id integer primary key, name text not null)')
  db = knex({ client: OnDatabase, connection: { filename: ':memory:' }, useNullAsDefault: true })
})
afterEach(async () => {
  await db.destroy()
  database.close()
})

/** knex's own client for SQLite, with a driver that needs no native build of its own. */
class OnDatabase extends (Sqlite as typeof Knex.Client) {
  _driver() {
    return {}
  }

  override async acquireRawConnection() {
    return database
  }

  override async destroyRawConnection() {}

  async _query(
    connection: typeof database,
    query: { sql: string; bindings: string[]; response: unknown; context: unknown },
  ) {
    const { changes, lastInsertRowid } = connection.prepare(query.sql).run(...query.bindings)
    query.context = { changes, lastID: lastInsertRowid }
    return query
  }
}

const tracked = <Run extends Tracked>(run: Run) => trackedBy((event) => recorded.push(event), { eventId: 1001, run })
const orders = () =>
  database
    .prepare('select name from orders')
    .all()
    .map((row) => (row as { name: string }).name)

describe('a tracked function that returns a query of knex', () => {
  const place = tracked((name: string | null) => db('orders').insert({ name }))

  it('runs the query once, when the caller asks for it, and records then', async () => {
    const query = place('first')
    await new Promise((resolve) => setImmediate(resolve))
    expect({ orders: orders(), recorded }).toEqual({ orders: [], recorded: [] })
    expect(query.toQuery()).toBe("insert into `orders` (`name`) values ('first')")
    expect(await query).toEqual([1])
    expect({ orders: orders(), recorded }).toEqual({ orders: ['first'], recorded: [1001] })
  })

  it('records nothing when the query fails, and passes the error on', async () => {
    await expect(place(null)).rejects.toMatchObject({ code: 'ERR_SQLITE_ERROR' })
    await expect(place(null).catch((error: Error) => error.message)).resolves.toContain('NOT NULL')
    expect({ orders: orders(), recorded }).toEqual({ orders: [], recorded: [] })
  })

  it('records one event for one call, though its query runs again', async () => {
    const query = place('twice')
    await query
    await query
    expect({ orders: orders(), recorded }).toEqual({ orders: ['twice', 'twice'], recorded: [1001] })
  })

  it('records once from an async function, which runs it', async () => {
    await tracked(async (name: string) => db('orders').insert({ name }))('inside')
    expect({ orders: orders(), recorded }).toEqual({ orders: ['inside'], recorded: [1001] })
  })

  it('records when the query is extended before it runs', async () => {
    await place('more').onConflict('id').ignore()
    await place('listened to').on('query', () => {})
    expect({ orders: orders(), recorded }).toEqual({ orders: ['more', 'listened to'], recorded: [1001, 1001] })
  })
})

describe('a tracked function that returns a thenable', () => {
  const lazy = () => {
    const calls: string[] = []
    // biome-ignore lint/suspicious/noThenProperty: a lazy query
    return { calls, then: (done: (row: string) => unknown) => void calls.push('ran', String(done('row'))) }
  }

  it('has the same keys and the same result as without tracking', async () => {
    const query = lazy()
    expect(tracked(() => query)()).toBe(query)
    expect(Object.keys(query)).toEqual(['calls', 'then'])
    query.then((row) => `got ${row}`)
    expect({ calls: query.calls, recorded }).toEqual({ calls: ['ran', 'got row'], recorded: [1001] })
  })

  it('records at its return where nothing can be observed', () => {
    const query = Object.freeze(lazy())
    expect(tracked(() => query)()).toBe(query)
    expect({ calls: query.calls, recorded }).toEqual({ calls: [], recorded: [1001] })
  })

  it('is watched once, though it is returned again and again, and each call records', () => {
    const query = lazy()
    const cached = tracked(() => query)
    for (let call = 0; call < 50_000; call++) cached()
    query.then((row) => row)
    expect(recorded).toHaveLength(50_000)
  })

  it('may be a promise whose own then nobody calls', async () => {
    const promise = Promise.resolve('done')
    // biome-ignore lint/suspicious/noThenProperty: as instrumentation does
    Object.assign(promise, { then: promise.then.bind(promise) })
    expect(await tracked(() => promise)()).toBe('done')
    expect(recorded).toEqual([1001])
  })
})
