import { existsSync } from 'node:fs'
import pg from 'pg'
import { afterEach, describe, expect, it } from 'vitest'
import { Cluster } from './cluster.js'
import { postgresInstalled, withPostgres } from './installation.js'
import { queryOf, stopServers } from './server.js'

afterEach(stopServers)

const add = (url: string, number: number) => queryOf(url, 'INSERT INTO numbers VALUES ($1)', [number])
const numbers = async (url: string) =>
  (await queryOf<{ number: number }>(url, 'SELECT number FROM numbers ORDER BY number')).map(({ number }) => number)

async function startWithTable() {
  const cluster = await Cluster.start()
  const url = await cluster.createDatabase()
  await queryOf(url, 'CREATE TABLE numbers (number integer)')
  return { cluster, url }
}

describe.skipIf(!postgresInstalled)(withPostgres('a PostgreSQL of the tests'), () => {
  it('has what was committed after SIGKILL, and leaves nothing after its end', async () => {
    const { cluster, url } = await startWithTable()
    await add(url, 1)
    await cluster.primary.kill('SIGKILL')
    await expect(add(url, 2)).rejects.toThrow('ECONNREFUSED')
    await cluster.primary.restart()
    await add(url, 3)
    expect(await numbers(url)).toEqual([1, 3])
    const { folder } = cluster.primary
    await cluster.primary.stop()
    expect(existsSync(folder)).toBe(false)
    await expect(numbers(url)).rejects.toThrow('ECONNREFUSED')
  })

  it('answers nothing while it is frozen, and goes on afterwards', async () => {
    const { cluster, url } = await startWithTable()
    await cluster.primary.kill('SIGSTOP')
    let isAdded = false
    const adding = add(url, 1).then(() => {
      isAdded = true
    })
    const other = new pg.Client({ connectionString: url, connectionTimeoutMillis: 300 })
    await expect(other.connect()).rejects.toThrow('timeout expired')
    expect(isAdded).toBe(false)
    await cluster.primary.kill('SIGCONT')
    await adding
    expect(await numbers(url)).toEqual([1])
  })

  it('has a standby that each commit waits for, and that takes over', async () => {
    const { cluster, url } = await startWithTable()
    const standby = await cluster.startStandby()
    const standbyUrl = standby.server.urlOf(new URL(url).pathname.slice(1))
    await add(url, 1)
    await expect(add(standbyUrl, 2)).rejects.toThrow('read-only transaction')
    await standby.server.kill('SIGSTOP')
    let isAdded = false
    const adding = add(url, 3).then(() => {
      isAdded = true
    })
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'`
    await expect.poll(() => cluster.primary.query(waiting)).toHaveLength(1)
    expect(isAdded).toBe(false)
    await standby.server.kill('SIGCONT')
    await adding
    await cluster.primary.kill('SIGKILL')
    await standby.promote()
    await add(standbyUrl, 4)
    expect(await numbers(standbyUrl)).toEqual([1, 3, 4])
  })
})
