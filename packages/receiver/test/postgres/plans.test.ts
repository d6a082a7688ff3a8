import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { PostgresStorage } from '../../dist/storage/postgres/postgres-storage.js'
import { newRecord, times } from '../contract/stores.js'
import { Cluster } from './cluster.js'
import { postgresInstalled, withPostgres } from './installation.js'
import { queryOf, stopServers } from './server.js'

const lane = { kind: 'logs', bucket: 'demo' } as const
const many = 20_000
const few = 40

interface Asked {
  readonly text: string
  readonly values: readonly unknown[]
}

/** A node of a plan that was run, as EXPLAIN gives it. */
interface Node {
  readonly 'Relation Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly Plans?: readonly Node[]
}

describe.skipIf(!postgresInstalled)(withPostgres('the plans of the database'), () => {
  let url: string
  let storage: PostgresStorage
  beforeAll(async () => {
    url = await (await Cluster.start()).createDatabase()
    storage = await PostgresStorage.open(url)
    await storage.records.append(newRecord('logs', lane))
    // Ids that are a few milliseconds older.
    await queryOf(
      url,
      `INSERT INTO sluice_records SELECT bucket, kind, id - older, received_ms, time_ms, value, terms, record
         FROM sluice_records, generate_series(1, ${many}) AS older`,
    )
    await queryOf(url, 'ANALYZE sluice_records')
  })
  afterEach(() => vi.restoreAllMocks())
  afterAll(async () => {
    await storage.close()
    await stopServers()
  })

  /** The rows of records that each question of some work reads, by its plan. */
  async function rowsRead(work: () => Promise<unknown>): Promise<{ readonly text: string; readonly rows: number }[]> {
    const asked: Asked[] = []
    const { query } = pg.Client.prototype
    const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
      this: pg.Client,
      ...args: unknown[]
    ) {
      const [text, values = []] = args as [string, unknown[]]
      if (/^\s*(SELECT|WITH)\b/.test(text) && text.includes('sluice_records')) asked.push({ text, values })
      return (query as (...args: unknown[]) => unknown).apply(this, args)
    } as never)
    await work()
    spy.mockRestore()
    const read: { text: string; rows: number }[] = []
    for (const { text, values } of asked) {
      const explained = `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`
      const [row] = await queryOf<Record<'QUERY PLAN', [{ Plan: Node }]>>(url, explained, values)
      read.push({ text, rows: readBy(row!['QUERY PLAN'][0].Plan) })
    }
    return read
  }

  it('read what has arrived for live readers, and nothing else of the day', async () => {
    const { logs: after } = await storage.records.position(lane)
    // Each in a commit of its own.
    for (const record of times(few, () => newRecord('logs', lane))) await storage.records.append(record)
    const look = async () => {
      const { count } = await storage.records.arrivals({ ...lane, after, limit: few })
      expect(count).toBe(few)
    }
    const read = await rowsRead(look)
    expect(read).not.toEqual([])
    expect(read.reduce((sum, { rows }) => sum + rows, 0)).toBeLessThanOrEqual(2 * few)
  })

  it('read no records for a time that has none, though its hour has many', async () => {
    const since = newRecord('logs', lane).record.timeStamp + 60_000
    const search = async () => {
      const page = await storage.records.read({ ...lane, since, limit: 10, patienceMs: 10_000 })
      expect(page).toEqual({ total: 0, list: [] })
    }
    expect(await rowsRead(search)).toEqual([])
  })

  it('read no more than a part of the records of a frequent word, though the newest do not have it', async () => {
    await queryOf(
      url,
      `INSERT INTO sluice_records SELECT bucket, kind, id + newer, received_ms, time_ms, value, replace(terms, 'hello', 'other'), record
         FROM (SELECT * FROM sluice_records ORDER BY id DESC LIMIT 1) AS newest, generate_series(1, ${many + 5000}) AS newer`,
    )
    const search = async () => {
      const page = await storage.records.read({ ...lane, text: 'hello', limit: 10, patienceMs: 10_000 })
      expect(page.list).toHaveLength(10)
    }
    const byIndex = (await rowsRead(search)).filter(({ text }) => text.includes(' @> '))
    expect(byIndex).not.toEqual([])
    expect(Math.max(...byIndex.map(({ rows }) => rows))).toBeLessThanOrEqual(many / 2)
  })
})

function readBy(node: Node): number {
  const { 'Relation Name': relation, 'Actual Loops': loops, Plans: plans = [] } = node
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)
  const own = relation?.startsWith('sluice_records') ? (node['Actual Rows'] + removed) * loops : 0
  return plans.reduce((sum, each) => sum + readBy(each), own)
}
