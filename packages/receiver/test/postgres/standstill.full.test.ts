import { startReceiver } from 'sluice-receiver'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { killAll, ready } from '../processes.js'
import { caller, log } from '../support.js'
import { Cluster } from './cluster.js'
import { postgresInstalled, withPostgres } from './installation.js'
import { Relay } from './relay.js'
import { stopServers } from './server.js'

const numbers = (count: number) => Array.from({ length: count }, (_, number) => number)

describe.skipIf(!postgresInstalled)(withPostgres('a receiver that stands still'), { timeout: 60_000 }, () => {
  const closing: (() => unknown)[] = []
  afterEach(async () => {
    await killAll()
    for (const close of closing.splice(0)) await close()
  })
  afterAll(stopServers)

  it('delays the records that it was storing, and no others', async () => {
    const cluster = await Cluster.start()
    const database = await cluster.createDatabase()
    const relay = await Relay.start(cluster.primary.port)
    closing.push(() => relay.close())
    const relayed = new URL(database)
    relayed.port = String(relay.port)
    const frozen = await ready('--database', relayed.href)
    const other = await startReceiver({ port: 0, database })
    closing.unshift(() => other.close())
    const post = (url: string, key: string) =>
      caller({ url, apiKey: frozen.apiKey })('POST', '/logs/demo', { ...log, message: key }, { 'idempotency-key': key })

    // It stops when the keys of its records are in the table, and not committed.
    const stopped = new Promise<void>((resolve) => {
      relay.onSent = (bytes) => {
        if (!bytes.includes('INSERT INTO sluice_attempts')) return
        relay.onSent = () => {}
        relay.isSilent = true
        frozen.child.kill('SIGSTOP')
        resolve()
      }
    })
    const held = numbers(20).map((number) => `held ${number}`)
    const answers = held.map((key) => post(frozen.url, key).catch(() => {}))
    await stopped
    const holding =
      "SELECT 1 FROM pg_stat_activity WHERE state = 'idle in transaction' AND query LIKE '%sluice_attempts%'"
    await expect.poll(() => cluster.primary.query(holding)).toHaveLength(1)

    // Clients send those again, while others send what nobody has sent before.
    const isAccepted = async (key: string) => (await post(other.url, key)).status === 201
    const repeating = held.map(async (key) => {
      while (!(await isAccepted(key)));
    })
    const unrelated = numbers(400).map((number) => `unrelated ${number}`)
    const accepted: boolean[] = []
    while (unrelated.length > 0) accepted.push(...(await Promise.all(unrelated.splice(0, 20).map(isAccepted))))
    expect(accepted.filter((each) => !each)).toEqual([])
    await Promise.all(repeating)

    // Whatever it does when it goes on, each record is stored once.
    relay.isSilent = false
    frozen.child.kill('SIGCONT')
    await Promise.all(answers)
    const { body } = await caller({ url: other.url, apiKey: frozen.apiKey })('GET', '/api/logs/demo?limit=1')
    expect(body.total).toBe(420)
  })
})
