import { mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { EngineFolder, isRecordFile, releaseFolder, removeUnnamed, segmentName } from '../../src/spool/engine-folder.js'
import { type Lock, Locks, lockOf } from '../../src/spool/lock.js'
import { currentOwner, machineOwners } from '../../src/spool/owner.js'
import { spoolFolder } from '../support/spool.js'
import { WatchedFiles } from '../support/watched-files.js'

const nowMs = 1_700_000_000_000
const segment = 'info-01234567-0123456789ab-000001.ndjson'
const letters = '1-a-b-000001.ndjson'

function setUp() {
  const dir = spoolFolder()
  const disk = new WatchedFiles()
  const wallClock = () => nowMs
  const locks = new Locks({ files: disk.files, owners: machineOwners, wallClock })
  const plan = { dir, url: 'http://service.test/', sync: false, files: disk.files, locks }
  const syncs = () => disk.calls.filter((call) => call.startsWith('fsyncSync'))
  return { dir, disk, locks, plan, syncs, wallClock }
}

describe('the folder of an engine', () => {
  it('can be read only by its owner, and is synced where that is asked for', () => {
    const { disk, plan, syncs } = setUp()
    expect(statSync(new EngineFolder(plan).path).mode & 0o777).toBe(0o700)
    expect(syncs()).toEqual([])
    disk.calls.length = 0
    new EngineFolder({ ...plan, sync: true })
    expect(syncs().length).toBeGreaterThan(1)
  })

  it('is not used, and removed, when another thread has locked it', () => {
    const { dir, locks, plan } = setUp()
    locks.claim = () => undefined
    expect(() => new EngineFolder(plan)).toThrow(/\.new-[0-9a-f]{8}-[0-9a-f]{12} is locked$/)
    expect(readdirSync(dir)).toEqual([])
  })

  it('is removed when it could not be synced', () => {
    const { dir, disk, plan } = setUp()
    disk.fault = (call) => (call.startsWith('fsyncSync') ? 'EIO' : undefined)
    expect(() => new EngineFolder({ ...plan, sync: true })).toThrow('EIO')
    expect(readdirSync(dir)).toEqual([])
  })
})

describe('a folder that is released', () => {
  /** A folder with these files and a lock. */
  function setUpFolder(names: readonly string[]) {
    const set = setUp()
    for (const name of names) writeFileSync(join(set.dir, name), '')
    const lock = set.locks.claim(lockOf(set.dir), undefined)!
    const release = (given: Lock = lock) => releaseFolder(set.dir, { lock: given, files: set.disk.files })
    return { ...set, release }
  }

  it('is removed with locks, and acknowledgements of what is gone', () => {
    const acks = [segment, letters].map((name) => name.replace('.ndjson', '.acks'))
    const { dir, release } = setUpFolder(['lock-7', 'lock-2.0123abcd', ...acks])
    expect(release()).toBe(true)
    expect(() => statSync(dir)).toThrow('ENOENT')
  })

  it.each(['notes.acks', 'notes.txt', 'info-01234567-0123456789ab-000001.acks.old'])(
    'stays with its other files, such as %s',
    (name) => {
      const { dir, release } = setUpFolder([name])
      expect(release()).toBe(true)
      expect(readdirSync(dir)).toEqual([name])
    },
  )

  it('stays with a segment and its acknowledgements, without the lock', () => {
    const { dir, release } = setUpFolder([segment, segment.replace('.ndjson', '.acks')])
    expect(release()).toBe(true)
    expect(readdirSync(dir)).toHaveLength(2)
  })

  it('is still held when the disk fails', () => {
    const { disk, release } = setUpFolder([segment])
    disk.fault = (call) => (call.startsWith('unlinkSync') ? 'EIO' : undefined)
    expect(release()).toBe(false)
  })
})

describe('the name of a file', () => {
  it('is that of a segment or of dead letters, or of neither', () => {
    expect([segment, letters, 'notes.ndjson'].map(isRecordFile)).toEqual([true, true, false])
    expect(segmentName(segment)).toEqual({ bucket: '01234567', severity: 2 })
    for (const name of [letters, 'info-notes.ndjson', `x${segment}`, `${segment}x`]) {
      expect(segmentName(name)).toBeUndefined()
    }
  })
})

describe('a folder that never got its name', () => {
  const name = '01234567-0123456789ab'
  const alive = currentOwner()
  const dead = { ...alive, started: '1' }
  const unknown = { ...alive, namespace: 'pid:[1]' }

  /** A folder of such an age, with such an owner in its lock, and such a file. Returns the names in the spool after a look. */
  function namesAfterLook(
    owner: object | undefined,
    { ageMs = 0, file, isOwn = false }: { ageMs?: number; file?: string; isOwn?: boolean } = {},
  ): string[] {
    const { dir, disk, locks, wallClock } = setUp()
    locks.isOwn = () => isOwn
    const path = join(dir, `.new-${name}`)
    mkdirSync(path)
    if (owner !== undefined) writeFileSync(join(path, 'lock-1'), JSON.stringify(owner))
    if (file !== undefined) writeFileSync(join(path, file), '')
    utimesSync(path, (nowMs - ageMs) / 1000, (nowMs - ageMs) / 1000)
    removeUnnamed(dir, { files: disk.files, locks, wallClock })
    return readdirSync(dir, { recursive: true }).map(String).sort()
  }

  const kept = [`.new-${name}`, `.new-${name}/lock-1`]
  it('stays while its thread lives, however old it is', () => {
    expect(namesAfterLook(alive, { ageMs: 1_000_000 })).toEqual(kept)
  })

  it('is removed when its thread is dead, and when this thread could not name it', () => {
    expect(namesAfterLook(dead)).toEqual([])
    expect(namesAfterLook(alive, { isOwn: true })).toEqual([])
  })

  it('is removed after a minute when its thread is unknown, or it has no lock', () => {
    expect(namesAfterLook(unknown, { ageMs: 60_000 })).toEqual(kept)
    expect(namesAfterLook(unknown, { ageMs: 60_001 })).toEqual([])
    expect(namesAfterLook(undefined, { ageMs: 60_000 })).toEqual([`.new-${name}`])
    expect(namesAfterLook(undefined, { ageMs: 60_001 })).toEqual([])
  })

  it('gets its name when it has records', () => {
    expect(namesAfterLook(dead, { file: segment })).toEqual([name, `${name}/${segment}`, `${name}/lock-1`])
  })

  it('stays with a file that is no record', () => {
    expect(namesAfterLook(dead, { file: 'notes.txt' })).toEqual([`.new-${name}`, `.new-${name}/notes.txt`])
  })

  it('may be a file, which stays', () => {
    const { dir, disk, locks, wallClock } = setUp()
    const path = join(dir, `.new-${name}`)
    writeFileSync(path, '')
    utimesSync(path, 0, 0)
    removeUnnamed(dir, { files: disk.files, locks, wallClock })
    expect(readdirSync(dir)).toEqual([`.new-${name}`])
  })
})
