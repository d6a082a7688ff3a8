import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { halfWay } from '../dist/storage/sqlite/first-version.js'
import { newestVersion } from '../dist/storage/sqlite/migrations.js'
import { sayingUpgrade } from '../dist/storage/sqlite/upgrade.js'
import { dataFolder } from './data-folder.js'
import { killAll, start } from './processes.js'

const data = dataFolder()
afterEach(killAll)

/** Tables of a version before; only their number counts here. */
const makeOld = (version: number) =>
  data.inDatabase((database) => database.exec(`CREATE TABLE records (id INTEGER); PRAGMA user_version = ${version}`))

describe('a start that upgrades the store', () => {
  it('says so on stderr before the port opens, and when it is done', async () => {
    data.inDatabase((database) =>
      database.exec('CREATE TABLE keys (hash TEXT PRIMARY KEY, created_at INTEGER NOT NULL) STRICT'),
    )
    const { child } = start('--json', '--port', '0', '--data', data.path)
    let stderr = ''
    child.stderr.on('data', (bytes: Buffer) => {
      stderr += bytes
    })
    await once(child.stdout, 'data')
    await vi.waitUntil(() => stderr.includes('after'))
    expect(stderr).toMatch(
      /^sluice-receiver: upgrading the store from version 0 to (\d+): this may take a minute\nsluice-receiver: the store has version \1 after \d+\.\d s\n$/,
    )
  })
})

describe('the upgrade of a store', () => {
  let said: string[]
  beforeEach(() => {
    said = []
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => said.push(String(text)) > 0)
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  })
  afterEach(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
  })
  const path = () => data.file('receiver.sqlite')

  it('tells its progress every two seconds, and nothing after the end', async () => {
    makeOld(1)
    const opened = await sayingUpgrade(path(), async () => {
      vi.advanceTimersByTime(5000)
      return 'open'
    })
    expect(opened).toBe('open')
    vi.advanceTimersByTime(5000)
    expect(said).toEqual([
      `sluice-receiver: upgrading the store from version 1 to ${newestVersion}: this may take a minute\n`,
      'sluice-receiver: upgrading for 2.0 s, 0 MB on disk\n',
      'sluice-receiver: upgrading for 4.0 s, 0 MB on disk\n',
      `sluice-receiver: the store has version ${newestVersion} after 5.0 s\n`,
    ])
  })

  it('that goes on half-way is said to begin at version 1', async () => {
    makeOld(halfWay)
    await sayingUpgrade(path(), async () => {})
    expect(said[0]).toContain(`from version 1 to ${newestVersion}`)
  })

  it('that fails is not said to be done', async () => {
    makeOld(1)
    const failing = sayingUpgrade(path(), async () => {
      throw new Error('database or disk is full')
    })
    await expect(failing).rejects.toThrow('full')
    vi.advanceTimersByTime(5000)
    expect(said).toHaveLength(1)
  })

  it('is not announced for a new store, an empty file and one that needs none', async () => {
    await sayingUpgrade(path(), async () => {})
    data.inDatabase(() => {})
    await sayingUpgrade(path(), async () => {})
    makeOld(newestVersion)
    await sayingUpgrade(path(), async () => {})
    expect(said).toEqual([])
  })
})
