import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { killAll, ready } from '../processes.js'
import { caller, log } from '../support.js'
import { Cluster } from './cluster.js'
import { postgresInstalled, withPostgres } from './installation.js'
import { queryOf, stopServers } from './server.js'

const keys = Array.from({ length: 300 }, (_, key) => `record ${key}`)

describe.skipIf(!postgresInstalled)(withPostgres('receivers over three databases'), { timeout: 120_000 }, () => {
  afterEach(killAll)
  afterAll(stopServers)

  it('take two thirds of the records while one database is away, say that reads are incomplete, and lose nothing', async () => {
    const clusters = [await Cluster.start(), await Cluster.start(), await Cluster.start()]
    const urls = await Promise.all(clusters.map((cluster) => cluster.createDatabase()))
    const options = urls.flatMap((url) => ['--database', url])
    const [one, other] = [await ready(...options), await ready(...options)]
    const { apiKey } = one
    const calls = [caller({ url: one.url, apiKey }), caller({ url: other.url, apiKey })]
    const acknowledged = new Set<string>()
    const send = async (prefix: string) => {
      const statuses = await Promise.all(
        keys.map(async (key, index) => {
          const name = `${prefix} ${key}`
          const { status, headers } = await calls[index % 2]!(
            'POST',
            '/logs/demo',
            { ...log, message: name },
            {
              'idempotency-key': name,
            },
          )
          if (status === 201) acknowledged.add(name)
          else expect([status, headers.get('retry-after')]).toEqual([503, '1'])
          return status
        }),
      )
      return statuses.filter((status) => status === 201).length
    }
    const read = async () => {
      const { body } = await calls[1]!('GET', '/api/logs/demo?limit=1000')
      return body as { total: number; list: { message: string; id: number }[]; incomplete?: true }
    }

    expect(await send('healthy')).toBe(keys.length)
    expect(await read()).toMatchObject({ total: keys.length })
    expect(await read()).not.toHaveProperty('incomplete')

    await clusters[2]!.primary.kill('SIGKILL')
    const taken = await send('away')
    expect(taken).toBeGreaterThan(keys.length / 2)
    expect(taken).toBeLessThan(keys.length)
    expect(await read()).toMatchObject({ incomplete: true })
    expect((await calls[0]!('GET', '/api/logs/demo/counts')).body).toMatchObject({ incomplete: true })
    expect((await calls[0]!('GET', '/api/ready')).status).toBe(200)
    // A receiver starts, too.
    const third = await ready(...options)
    expect((await caller({ url: third.url, apiKey })('GET', '/api/logs/demo')).body).toMatchObject({ incomplete: true })

    await clusters[2]!.primary.restart()
    await expect.poll(() => send('away'), { timeout: 30_000 }).toBe(keys.length)
    expect(acknowledged.size).toBe(2 * keys.length)
    const { list, ...rest } = await read()
    expect(rest).toEqual({ total: 2 * keys.length })
    expect(list.map(({ message }) => message).sort()).toEqual([...acknowledged].sort())
    expect(list.map(({ id }) => id)).toEqual(list.map(({ id }) => id).sort((a, b) => b - a))
    const { body: counts } = await calls[0]!('GET', '/api/logs/demo/counts?step=1h')
    expect(counts).toMatchObject({ total: 2 * keys.length, totals: { info: 2 * keys.length } })
    const perShard = await Promise.all(urls.map((url) => queryOf(url, 'SELECT id FROM sluice_records')))
    for (const rows of perShard) expect(rows.length).toBeGreaterThan(keys.length / 3)
    // The third receiver has opened the database that was away when it began.
    await expect
      .poll(async () => (await caller({ url: third.url, apiKey })('GET', '/api/logs/demo')).body, { timeout: 10_000 })
      .toMatchObject({ total: 2 * keys.length })
  })
})
