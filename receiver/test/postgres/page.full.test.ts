import pg from 'pg'
import { startReceiver } from 'sluice-receiver'
import { afterAll, describe, expect, it } from 'vitest'
import { canOpenPages, openPage, row, useBrowser } from '../page/support.js'
import { caller, log } from '../support.js'
import { Cluster } from './cluster.js'
import { postgresInstalled, withPostgres } from './installation.js'
import { stopServers } from './server.js'

describe.skipIf(!postgresInstalled || !canOpenPages)(withPostgres('the page'), { timeout: 60_000 }, () => {
  useBrowser()
  afterAll(stopServers)

  it('shows what another receiver stores, also where commits come in the reverse order of their ids', async () => {
    const database = await (await Cluster.start()).createDatabase()
    const { page, apiKey, problems } = await openPage({ database })
    const other = await startReceiver({ port: 0, database })
    const holder = new pg.Client(database)
    await holder.connect()
    const call = caller({ url: other.url, apiKey })
    const send = (message: string) => call('POST', '/logs/demo', { ...log, message }, { 'idempotency-key': message })

    // A transaction that holds the key of a record keeps it from its commit.
    await holder.query('BEGIN')
    await holder.query(`INSERT INTO sluice_attempts VALUES ('demo', 'logs', 'late', '', 0)`)
    const late = send('late')
    await expect
      .poll(
        async () => (await holder.query(`SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'`)).rowCount,
      )
      .toBe(1)
    await send('early')
    await row(page, 'early').waitFor()
    expect(await row(page, 'late').count()).toBe(0)
    await holder.query('ROLLBACK')
    expect((await late).status).toBe(201)
    await row(page, 'late').waitFor()
    expect(await row(page, 'early').count()).toBe(1)
    expect(problems).toEqual([])
    await holder.end()
    await other.close()
  })
})
