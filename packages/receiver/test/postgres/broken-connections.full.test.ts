import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { full } from '../../../../test/support/full.js'
import { PostgresStorage } from '../../dist/storage/postgres/postgres-storage.js'
import { StoreUnavailableError } from '../../dist/storage/store-unavailable.js'
import { newRecord, times } from '../contract/stores.js'
import { storedKeys } from './clients.js'
import { Cluster } from './cluster.js'
import { postgresInstalled, withPostgres } from './installation.js'
import { Relay } from './relay.js'
import { queryOf, stopServers } from './server.js'

const record = (message: string) => newRecord('logs', { bucket: 'demo', idempotencyKey: message, message })

describe.skipIf(!postgresInstalled)(withPostgres('a store behind connections that break'), { timeout: 60_000 }, () => {
  let cluster: Cluster
  let relay: Relay
  let url: string
  let relayed: string
  const closing: (() => unknown)[] = []
  beforeAll(async () => {
    cluster = await Cluster.start()
  })
  afterEach(async () => {
    for (const close of closing.splice(0)) await close()
  })
  afterAll(stopServers)

  async function behindRelay(): Promise<void> {
    url = await cluster.createDatabase()
    relay = await Relay.start(cluster.primary.port)
    closing.push(() => relay.close())
    const address = new URL(url)
    address.port = String(relay.port)
    relayed = address.href
  }

  /** Sends the record again until it is acknowledged. Returns the attempts. */
  async function deliver(storage: PostgresStorage, message: string): Promise<number> {
    for (let attempts = 1; ; attempts++) {
      const failure = await storage.records.append(record(message)).catch((error: unknown) => error)
      if (failure === undefined) return attempts
      expect(failure).toBeInstanceOf(StoreUnavailableError)
    }
  }

  it.runIf(full)('keeps each record once, at whatever byte they break', async () => {
    await behindRelay()
    const storage = await PostgresStorage.open(relayed)
    closing.unshift(() => storage.close())
    // A connection that begins has 400 bytes from the server, one commit has about 100.
    relay.bytesUntilCut = () => 400 + Math.floor(Math.random() * 1500)
    const end = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1'
    await cluster.primary.query(end, [new URL(url).pathname.slice(1)])
    const keys = times(200, (number) => `record ${number}`)
    const waiting = [...keys]
    const reading = async () => {
      while (waiting.length > 0) {
        const failure = await storage.records.read({ kind: 'logs', bucket: 'demo', limit: 10 }).catch((error) => error)
        if (failure instanceof Error) expect(failure).toBeInstanceOf(StoreUnavailableError)
      }
    }
    const writing = async () => {
      for (let key = waiting.shift(); key !== undefined; key = waiting.shift()) await deliver(storage, key)
    }
    await Promise.all([...times(8, writing), reading()])
    expect(relay.cuts).toBeGreaterThan(10)
    expect(await storedKeys(url)).toEqual(keys.toSorted())
  })

  it('keeps a record once where the answer to its commit is lost', async () => {
    await behindRelay()
    const storage = await PostgresStorage.open(relayed)
    closing.unshift(() => storage.close())
    let cuts = 0
    relay.onSent = (bytes, { cut }) => {
      if (cuts > 0 || !bytes.includes('COMMIT')) return
      cuts++
      // The server commits by itself; its answer finds nobody.
      relay.isSilent = true
      void expect
        .poll(() => storedKeys(url))
        .toEqual(['one'])
        .then(() => {
          cut()
          relay.isSilent = false
        })
    }
    expect(await deliver(storage, 'one')).toBeGreaterThan(1)
    expect(cuts).toBe(1)
    expect(await storedKeys(url)).toEqual(['one'])
  })

  it.runIf(full)(
    'gives up a connection on which an answer has vanished without a word, to a commit or at its begin',
    async () => {
      await behindRelay()
      const storage = await PostgresStorage.open(relayed, { commitMs: 1000 })
      closing.unshift(() => storage.close())
      // More than the store has connections: if it kept each, it could not write any more.
      const left = new Map([
        ['COMMIT', 12],
        ['set_config', 12],
      ])
      relay.onSent = (bytes, { silence }) => {
        for (const [word, times] of left) {
          if (times === 0 || !bytes.includes(word)) continue
          left.set(word, times - 1)
          silence()
        }
      }
      await Promise.all(times(8, (number) => deliver(storage, `record ${number}`)))
      expect(left.get('COMMIT')).toBe(0)
      expect(await storedKeys(url)).toEqual(times(8, (number) => `record ${number}`))
    },
  )

  it.runIf(full)('goes on where another process has the slot of its ids, and has made the same ones', async () => {
    url = await cluster.createDatabase()
    const frozen = await PostgresStorage.open(url)
    await queryOf(url, 'DELETE FROM sluice_writers')
    const storages = [frozen, await PostgresStorage.open(url)]
    closing.push(() => Promise.all(storages.map((storage) => storage.close())))
    const slots = () => queryOf(url, 'SELECT slot FROM sluice_writers ORDER BY slot')
    const keys: string[] = []
    // Both make the same ids in the same millisecond.
    while ((await slots()).length < 2) {
      const round = storages.map((_, index) => `record ${keys.length + index}`)
      await Promise.all(storages.map((storage, index) => storage.records.append(record(round[index]!))))
      keys.push(...round)
    }
    expect(await storedKeys(url)).toEqual(keys.toSorted())
    expect(await slots()).toEqual([{ slot: 0 }, { slot: 1 }])
  })
})
