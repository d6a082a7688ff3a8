import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { vi } from 'vitest'
import { asOwner, binary, newData, ownedFolder } from './installation.js'
import { Server, type Settings } from './server.js'

const prefix = 'sluice-postgres-data-'
const standbyName = 'standby'

/** A primary server with databases for tests, and perhaps its standby. `stopServers` ends all of them. */
export class Cluster {
  readonly primary: Server

  private constructor(primary: Server) {
    this.primary = primary
  }

  static async start(settings: Settings = {}): Promise<Cluster> {
    const folder = ownedFolder(prefix)
    newData(folder)
    return new Cluster(await Server.start(folder, settings))
  }

  /** Makes an empty database and returns its URL. */
  async createDatabase(): Promise<string> {
    const name = `test_${randomUUID().replaceAll('-', '')}`
    await this.primary.query(`CREATE DATABASE ${name}`)
    return this.primary.urlOf(name)
  }

  /** Starts a synchronous standby: from now on each commit waits for it. */
  async startStandby(settings: Settings = {}): Promise<Standby> {
    const { primary } = this
    const folder = ownedFolder(prefix)
    const options = ['-D', folder, '-d', primary.url, '-X', 'stream', '-c', 'fast', '--no-sync']
    await promisify(execFile)(binary('pg_basebackup'), options, asOwner)
    writeFileSync(join(folder, 'standby.signal'), '')
    const server = await Server.start(folder, {
      primary_conninfo: `${primary.url}?application_name=${standbyName}`,
      ...settings,
    })
    // The standby has its copy of the settings by now, and does not wait for itself.
    await primary.query(`ALTER SYSTEM SET synchronous_standby_names = '${standbyName}'`)
    await primary.query('SELECT pg_reload_conf()')
    await vi.waitUntil(async () => (await this.#syncState()) === 'sync', { timeout: 30_000, interval: 20 })
    return new Standby(server)
  }

  async #syncState(): Promise<string | undefined> {
    const [row] = await this.primary.query<{ sync_state: string }>(
      'SELECT sync_state FROM pg_stat_replication WHERE application_name = $1',
      [standbyName],
    )
    return row?.sync_state
  }
}

/** Starts a primary and its synchronous standby, with an empty database. */
export async function startPair() {
  const cluster = await Cluster.start()
  const url = new URL(await cluster.createDatabase())
  const standby = await cluster.startStandby()
  const standbyUrl = standby.server.urlOf(url.pathname.slice(1))
  const hosts = `${url.host},${new URL(standbyUrl).host}`
  // Receivers look for the one of both that takes writes.
  const database = `postgres://postgres@${hosts}${url.pathname}?target_session_attrs=read-write`
  return { cluster, standby, url: url.href, standbyUrl, database }
}

/** A server that follows the primary, and answers reading queries only. */
export class Standby {
  readonly server: Server

  constructor(server: Server) {
    this.server = server
  }

  /** Makes it the primary. Resolves when it takes writes. */
  async promote(): Promise<void> {
    await this.server.query('SELECT pg_promote(true, 60)')
  }
}
