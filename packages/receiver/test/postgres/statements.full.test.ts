import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { PostgresStorage } from '../../dist/storage/postgres/postgres-storage.js'
import { newRecord, times } from '../contract/stores.js'
import { Cluster } from './cluster.js'
import { postgresInstalled, withPostgres } from './installation.js'
import { queryOf, stopServers } from './server.js'

/** Tables of which each row belongs to a bucket, or a project, with this column first in their primary key. */
const divided = [
  ...['attempts', 'batches', 'content_types', 'counts', 'entries', 'error_kinds', 'error_steps', 'errors', 'names'],
  ...['records', 'spans'],
]
const whole = [
  'days',
  'identity',
  'keys',
  'page_sessions',
  'page_tokens',
  'projects',
  'saved_views',
  'version',
  'writers',
]
/** Statements over all buckets. Nothing that a client waits for is among them, but the age of the oldest record for metrics. */
const acrossBuckets = [
  // Idempotency keys are forgotten after 24 hours, and batches after one.
  /^(UPDATE sluice_attempts SET|DELETE FROM sluice_attempts WHERE \(bucket, scope, key\) IN)/,
  /^DELETE FROM sluice_batches WHERE id < /,
  // Retention is by days, of all buckets.
  /^SELECT coalesce\(sum\(records\), 0\)::bigint AS records FROM sluice_counts WHERE .* day = \$1$/,
  /^SELECT bucket, app, env, version, min\(first_ms\) .* FROM sluice_errors WHERE kind = '' AND day = \$1/,
  /^UPDATE sluice_errors e SET first_ms = /,
  /^DROP TABLE (IF EXISTS )?sluice_(records|counts|spans|names|errors|error_steps|error_kinds)_\d+$/,
  /^SELECT .* FROM sluice_spans WHERE step_ms = 3600000$/,
]

describe.skipIf(!postgresInstalled)(withPostgres('the statements of the store'), { timeout: 60_000 }, () => {
  let url: string
  const statements = new Set<string>()
  const { query } = pg.Client.prototype
  beforeAll(async () => {
    url = await (await Cluster.start()).createDatabase()
    vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args: unknown[]) {
      const [first] = args as [string | { text: string }]
      statements.add((typeof first === 'string' ? first : first.text).replaceAll(/\s+/g, ' ').trim())
      return Reflect.apply(query, this, args)
    } as typeof query)
    await useAll(url, statements)
    vi.restoreAllMocks()
  })
  afterAll(stopServers)

  it('find the bucket first in the primary key of each table that has rows of buckets', async () => {
    const rows = await queryOf<{ name: string; first: string }>(
      url,
      `SELECT c.relname AS name, a.attname AS first FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
         JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
       WHERE i.indisprimary AND c.relname LIKE 'sluice%' AND c.relname !~ '\\d$' ORDER BY 1`,
    )
    const isOfBucket = ({ first }: { first: string }) => first === 'bucket' || first === 'project'
    const named = (those: typeof rows) => those.map(({ name }) => name.replace('sluice_', ''))
    expect(named(rows.filter(isOfBucket))).toEqual(divided)
    expect(named(rows.filter((row) => !isOfBucket(row)))).toEqual(whole)
  })

  it('each have one bucket, but for those that forget by time', () => {
    expect([...statements].some((sql) => sql.startsWith('DELETE FROM sluice_errors'))).toBe(true)
    const table = `sluice_(?:${divided.join('|')})\\b`
    const used = [...statements].filter(
      (sql) =>
        new RegExp(table).test(sql) &&
        !/^\s*(CREATE|ALTER) /.test(sql) &&
        !acrossBuckets.some((each) => each.test(sql)),
    )
    const count = (sql: string, pattern: string) => sql.match(new RegExp(pattern, 'g'))?.length ?? 0
    expect(used.length).toBeGreaterThan(25)
    for (const sql of used) {
      const read = count(sql, `(FROM|JOIN|UPDATE) ${table}`)
      const added = count(sql, `INTO ${table}`)
      const ofOne = count(
        sql,
        `(FROM|JOIN|UPDATE) ${table}( \\w+)?( SET .*?)? (WHERE|ON) (\\w+\\.)?(bucket|project) = \\$\\d`,
      )
      const rowsOfOne = count(sql, '(SELECT \\$\\d+::text, \\*|VALUES \\(\\$1,)')
      expect([sql, ofOne, rowsOfOne]).toEqual([sql, read, added])
    }
    for (const each of acrossBuckets) expect([...statements].some((sql) => each.test(sql))).toBe(true)
  })
})

/** Calls everything that a store can do, its work by the clock included. */
async function useAll(url: string, statements: ReadonlySet<string>): Promise<void> {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const storage = await PostgresStorage.open(url)
  const { records, content, projects, keys, pageSessions, views } = storage
  const write = (message: string) =>
    Promise.all(
      times(6, (number) => {
        const own = { bucket: `bucket-${number % 2}`, idempotencyKey: `${message} ${number}` }
        return records.append(number > 3 ? newRecord('values', own) : newRecord('logs', { ...own, message }))
      }),
    )
  await write('one two')
  await write('one two')
  for (const kind of ['logs', 'values'] as const) {
    const lane = { kind, bucket: 'bucket-0', limit: 10 }
    const position = await records.position(lane)
    await write('three')
    await records.arrivals({ ...lane, after: position[kind] })
    await records.arrivals({ ...lane, after: 0 })
    await records.missed({ ...lane, since: position })
    await records.missed({ ...lane, since: { ...position, logs: 0, values: 0 } })
    for (const filter of [
      {},
      { before: 1 },
      { after: 1 },
      { since: 1 },
      { appName: 'none' },
      { notText: 'four' },
      { text: 'one', notLevels: ['warn'] },
      kind === 'logs' ? { levels: ['none'] } : { eventId: 77 },
    ]) {
      await records.read({ ...lane, ...filter })
      await records.facets({ ...lane, ...filter })
      for (const stepMs of [60_000, 86_400_000, undefined]) await records.counts({ ...lane, ...filter, stepMs })
    }
  }
  for (const asked of [{}, { since: Date.now() - 1e9 }, { appName: 'shop', env: 'live' }]) {
    await records.errors({ bucket: 'bucket-0', limit: 10, nowMs: Date.now(), ...asked })
  }
  await records.oldest()
  await records.receiptsAround(Date.now())
  // The index is asked where the newest records have been looked at.
  const large = { kind: 'logs', bucket: 'large' } as const
  // An application has too many kinds of error.
  const letters = (number: number) => [...String(number)].map((digit) => 'abcdefghij'[Number(digit)]).join('')
  const failed = (number: number) => newRecord('logs', { ...large, level: 'error', message: letters(number) })
  await Promise.all(times(20_001, (number) => records.append(failed(number % 9001))))
  await records.read({ ...large, limit: 1, text: 'none' })
  await projects.add('shop')
  await projects.changePlan('shop', { content: true })
  await projects.page({ offset: 0, limit: 1 })
  await projects.list()
  const type = { projectId: 'shop', key: 'a', name: 'A', description: '', displayField: 'x', schema: [] }
  await content.addType(type)
  await content.changeType(type)
  const found = (await content.findType(type))!
  const attempt = { scope: found.id, key: 'one' }
  const id = await content.addEntry({ type: found, attempt, state: 'Draft', fields: {} })
  await content.findAttempt(attempt)
  await content.findEntry({ type: found, id: id! })
  await content.listEntries({ type: found, offset: 0, limit: 1 })
  await content.listTypes({ projectId: 'shop', offset: 0, limit: 1 })
  await content.archiveType(type)
  await keys.add({ id: 'k', hash: 'k', name: '', scopes: ['read'], projects: ['shop'], createdAt: 1, lastUsed: null })
  await keys.used(['k'], '2026-01-01')
  await keys.list()
  await keys.revoke('k')
  await pageSessions.noteAddress('http://localhost')
  await pageSessions.addToken('t')
  await pageSessions.add({ hash: 's', keyId: null }, 't')
  await pageSessions.list()
  await pageSessions.end('s')
  await views.save({ name: 'v', hash: '#logs' })
  await views.list()
  await views.remove('v')
  await storage.check()
  await storage.bytes()
  vi.advanceTimersByTime(60_000)
  vi.useRealTimers()
  await vi.waitUntil(() => [...statements].some((sql) => sql.startsWith('DELETE FROM sluice_batches')), 10_000)
  await records.forget(storage.nowMs() + 7 * 86_400_000)
  await storage.close()
}
