import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SqliteAttempts } from '../dist/storage/sqlite/attempts.js'
import { type Database, openSqlite } from '../dist/storage/sqlite/database.js'
import { migrate } from '../dist/storage/sqlite/migrations.js'
import { SqliteRows } from '../dist/storage/sqlite/sqlite-rows.js'
import { steadyTime } from '../dist/storage/steady-time.js'

const hour = 60 * 60 * 1000
const day = 24 * hour
const noon = Date.UTC(2026, 0, 31, 12)

/** Clocks that the test sets. */
const clocks = { wallMs: noon, monotonicMs: 5 }
const pass = (ms: number) => {
  clocks.wallMs += ms
  clocks.monotonicMs += ms
}
let database: Database
beforeEach(() => {
  Object.assign(clocks, { wallMs: noon, monotonicMs: 5 })
  database = openSqlite(':memory:')
  migrate(database)
})
afterEach(() => database.close())

/** The attempts of a receiver that has just started on the database. */
const start = () =>
  new SqliteAttempts(database, steadyTime({ wall: () => clocks.wallMs, monotonic: () => clocks.monotonicMs }))
const kept = () => (database.prepare('SELECT count(*) AS kept FROM attempts').get() as { kept: number }).kept
const of = (key: string) => ({ scope: 'logs demo', key })
const add = (attempts: SqliteAttempts, key: string, result = 'id') =>
  new SqliteRows(database).transaction(() => attempts.add(of(key), result))
async function addSome(attempts: SqliteAttempts, name: string): Promise<void> {
  for (let number = 0; number < 20; number++) await add(attempts, `${name}-${number}`)
}

describe('attempts', () => {
  it('are remembered for 24 hours while the wall clock jumps forward', async () => {
    const attempts = start()
    expect(await add(attempts, 'k')).toBe('id')
    clocks.wallMs += 400 * day
    attempts.forget(1)
    expect(await add(attempts, 'k', 'other')).toBe('id')
    expect(await attempts.find(of('k'))).toBe('id')
    expect([...attempts.addAll('logs demo', ['k', 'l'])]).toEqual(['l'])
    pass(day - 1)
    expect(await attempts.find(of('k'))).toBe('id')
    pass(1)
    expect(await attempts.find(of('k'))).toBeUndefined()
  })

  it('are forgotten after 24 hours while the wall clock goes back', async () => {
    const attempts = start()
    expect(await add(attempts, 'k')).toBe('id')
    clocks.wallMs -= 400 * day
    pass(day)
    expect(await attempts.find(of('k'))).toBeUndefined()
    attempts.forget(1)
    expect(kept()).toBe(0)
  })

  it('of a run whose clock was ahead are known at first and forgotten in turn, with all that follow', async () => {
    clocks.wallMs = noon + 400 * day
    await addSome(start(), 'ahead')
    clocks.wallMs = noon
    const attempts = start()
    await addSome(attempts, 'right')
    expect(await attempts.find(of('ahead-0'))).toBe('id')
    expect(kept()).toBe(40)
    pass(day)
    expect(await attempts.find(of('ahead-0'))).toBeUndefined()
    await addSome(attempts, 'next')
    expect(kept()).toBe(20)
  })

  it('of a run whose clock was ahead for a while leave the table, too, when those before them have left', async () => {
    await addSome(start(), 'before')
    clocks.wallMs = noon + 400 * day
    await addSome(start(), 'ahead')
    clocks.wallMs = noon
    const attempts = start()
    for (const name of ['first', 'second', 'third', 'fourth']) {
      pass(day)
      await addSome(attempts, name)
    }
    expect(kept()).toBe(20)
  })

  it('get older while the receiver does not run', async () => {
    await add(start(), 'k')
    clocks.wallMs += day
    clocks.monotonicMs = 1
    expect(await start().find(of('k'))).toBeUndefined()
  })
})
