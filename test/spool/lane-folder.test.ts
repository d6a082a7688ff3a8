import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { LaneFolder, laneFinder, severityOfFile } from '../../src/spool/lane-folder.js'
import { Locks, lockOf, machineLocks } from '../../src/spool/lock.js'
import { machineOwners } from '../../src/spool/owner.js'
import { spoolFolder } from '../support/spool.js'
import { WatchedFiles } from '../support/watched-files.js'

const url = 'http://service.test/'
const lane = { kind: 'logs', bucket: 'b' } as const
const others = [
  { kind: 'values', bucket: 'b' },
  { kind: 'logs', bucket: 'c' },
] as const

function setUp() {
  const dir = spoolFolder()
  const disk = new WatchedFiles()
  const { files } = disk
  const locks = new Locks({ files, owners: machineOwners, wallClock: Date.now })
  return { dir, disk, make: () => LaneFolder.make({ dir, url, lane, sync: false, files, locks }) }
}

describe('the folder of a lane', () => {
  it('has a name that tells the lane and the service, and no other', () => {
    const name = basename(setUp().make().path)
    expect(name).toMatch(/^[0-9a-f]{8}-[0-9a-f]{12}$/)
    expect(laneFinder(url, [...others, lane])(name)).toBe(2)
    expect(laneFinder(url, others)(name)).toBe(-1)
    expect(laneFinder('http://other.test/', [lane])(name)).toBe(-1)
    for (const foreign of ['dead-letter', `.new-${name}`, `${name}-x`, name.slice(1)]) {
      expect(laneFinder(url, [lane])(foreign)).toBe(-1)
    }
  })

  it('has a lock from the beginning, and files with numbers', () => {
    const folder = setUp().make()
    expect(readdirSync(folder.path)).toEqual(['lock-1'])
    expect(machineLocks.holderOf(lockOf(folder.path))).toMatchObject({ state: 'alive' })
    const names = [2, 6, 2].map((severity) => basename(folder.nextFile(severity as 2 | 6)))
    expect(names).toEqual(['info-000001.ndjson', 'value-000002.ndjson', 'info-000003.ndjson'])
    expect(names.map(severityOfFile)).toEqual([2, 6, 2])
    for (const name of ['info-1.ndjson', 'notes.ndjson', 'info-000001.acks', 'xinfo-000001.ndjson']) {
      expect(severityOfFile(name)).toBe(undefined)
    }
  })

  it('is another one when somebody takes the first before it has a lock', () => {
    const { dir, disk, make } = setUp()
    let claims = 0
    disk.fault = (call) =>
      call === 'linkSync lock-1' || /^linkSync lock-1\./.test(call) ? (++claims < 3 ? 'EEXIST' : undefined) : undefined
    const folder = make()
    expect(claims).toBe(3)
    expect(readdirSync(folder.path)).toEqual(['lock-1'])
    expect(readdirSync(dir)).toHaveLength(3)
    disk.fault = (call) => (call.startsWith('linkSync') ? 'EEXIST' : undefined)
    expect(make).toThrow('others take each folder as it is made')
  })

  it('is not left when it cannot have a lock', () => {
    const { dir, disk, make } = setUp()
    disk.fault = (call) => (/^openSync lock/.test(call) ? 'ENOSPC' : undefined)
    expect(make).toThrow('ENOSPC')
    expect(readdirSync(dir)).toEqual([])
  })

  it('is held until another engine takes it, or it is removed', () => {
    const folder = setUp().make()
    expect(folder.touch()).toBe(true)
    writeFileSync(join(folder.path, 'lock-2'), '')
    expect(folder.touch()).toBe(false)
    rmSync(folder.path, { recursive: true })
    expect(folder.touch()).toBe(false)
  })

  it('is removed at its release, but not with records or files of others in it', () => {
    const { dir, make } = setUp()
    const [empty, full, foreign] = [make(), make(), make()]
    writeFileSync(join(empty.path, 'info-000001.acks'), '')
    writeFileSync(full.nextFile(2), '')
    mkdirSync(join(foreign.path, 'mine'))
    for (const folder of [empty, full, foreign]) expect(folder.release()).toBe(true)
    expect(readdirSync(dir).sort()).toEqual([full, foreign].map(({ path }) => basename(path)).sort())
    expect(readdirSync(full.path)).toEqual(['info-000001.ndjson'])
    expect(readdirSync(foreign.path)).toEqual(['mine'])
  })

  it('may still be held when the disk fails at its release', () => {
    const { disk, make } = setUp()
    const folder = make()
    disk.fault = (call) => (call.startsWith('unlinkSync') ? 'EIO' : undefined)
    expect(folder.release()).toBe(false)
    disk.fault = () => undefined
    expect(folder.release()).toBe(true)
  })
})
