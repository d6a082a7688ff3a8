import { afterEach, describe, expect, it } from 'vitest'
import { everything, full } from '../../../test/support/full.js'
import type { Database } from '../dist/storage/sqlite/database.js'
import { dataFolder } from './data-folder.js'
import { killAll, ready } from './processes.js'
import { article, caller, log, value } from './support.js'

const kills = everything ? 60 : full ? 10 : 1
const lanes = 24

const data = dataFolder()
afterEach(killAll)

interface Sent {
  readonly key: string
  readonly path: string
  readonly body: object
}

/** The n-th request of a lane: logs, values, and sometimes content. */
function message(lane: number, number: number): Sent {
  const key = `${lane}-${number}`
  if (number % 8 === 7) return { key, path: '/ng-cms/content/demo/article', body: { fields: { title: key } } }
  if (lane % 3 === 0) return { key, path: '/value_tracking/demo', body: { ...value, appName: key } }
  return { key, path: '/logs/demo', body: { ...log, message: key } }
}

/** Reads the database file alone, and SQLite's check of it. */
function inspect(database: Database) {
  const all = (sql: string) => database.prepare(sql).all() as Record<string, string>[]
  const integrity = all('PRAGMA integrity_check')
  const keys = [
    ...all(`SELECT record ->> '$.message' AS key FROM records WHERE record ->> '$.message' IS NOT NULL`),
    ...all(`SELECT record ->> '$.appName' AS key FROM records WHERE record ->> '$.message' IS NULL`),
    ...all(`SELECT fields ->> '$.title' AS key FROM entries`),
  ].map(({ key }) => key!)
  const counted = all(`SELECT sum(records) AS records FROM lanes
    UNION ALL SELECT sum(records) FROM counts GROUP BY step_ms
    UNION ALL SELECT count(*) FROM records`)
  return { integrity, keys, counted }
}

describe('a receiver that is killed under load', () => {
  it(
    'has lost nothing that it acknowledged, and has what is sent again once',
    async () => {
      const acknowledged = new Set<string>()
      const next = new Array<number>(lanes).fill(0)
      let apiKey: string | null = null
      for (let round = 0; round < kills; round++) {
        const { child, exit, ...receiver } = await ready('--data', data.path)
        apiKey ??= receiver.apiKey
        const call = caller({ url: receiver.url, apiKey })
        if (round === 0) await call('POST', '/api/projects/demo/content-types', article)
        let left = 100 + Math.floor(Math.random() * 400)
        const load = next.map(async (_, lane) => {
          for (;;) {
            // After a kill each lane repeats the request that was not acknowledged, with the same key.
            const { key, path, body } = message(lane, next[lane]!)
            const { status } = await call('POST', path, body, { 'idempotency-key': key })
            if (status !== 201) throw new Error(`${path} answered ${status}`)
            acknowledged.add(key)
            next[lane]!++
            if (--left === 0) child.kill('SIGKILL')
          }
        })
        for (const { reason } of (await Promise.allSettled(load)) as PromiseRejectedResult[]) {
          expect(String(reason)).toContain('fetch failed')
        }
        expect(await exit).toEqual([null, 'SIGKILL'])

        const { integrity, keys, counted } = data.inDatabase(inspect)
        expect(integrity).toEqual([{ integrity_check: 'ok' }])
        const stored = new Set(keys)
        expect([...acknowledged].filter((key) => !stored.has(key))).toEqual([])
        expect(keys.length).toBe(stored.size)
        expect(counted).toEqual(Array(5).fill(counted[0]))
      }
      expect(acknowledged.size).toBeGreaterThanOrEqual(kills * 100)
    },
    60_000 + kills * 15_000,
  )
})
