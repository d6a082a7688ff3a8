import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { currentOwner, FolderLock } from '../../src/spool/lock.js'
import { Disk } from '../scenarios/chaos/disk.js'
import { startProgram } from '../support/programs.js'
import { spoolFolder } from '../support/spool.js'

describe('the lock of a folder', () => {
  it('is had by one of those that claim a folder at the same moment, whose last holder is dead', async () => {
    const dir = spoolFolder()
    const folders = Array.from({ length: 50 }, (_, index) => join(dir, String(index)))
    for (const folder of folders) {
      mkdirSync(folder)
      writeFileSync(join(folder, 'lock-1'), '{"host":"gone","pid":1}')
    }
    const { stdout } = await startProgram('claims.js', { arguments: folders }).ended
    expect(JSON.parse(stdout)).toEqual(folders.map(() => 1))
  })

  it('is not had by one who was slow, when somebody has had the folder since', () => {
    const dir = spoolFolder()
    writeFileSync(join(dir, 'lock-1'), '{"host":"gone","pid":1}')
    const [slow, quick] = [FolderLock.holderOf(dir), FolderLock.holderOf(dir)]
    expect(FolderLock.claim(dir, quick)).toBeDefined()
    expect(FolderLock.claim(dir, slow)).toBeUndefined()
  })

  it('says who holds it, until it is released', () => {
    const dir = spoolFolder()
    expect(FolderLock.holderOf(dir)).toBeUndefined()
    const lock = FolderLock.claim(dir, undefined)!
    expect(FolderLock.holderOf(dir)).toMatchObject({ state: 'alive', owner: { pid: process.pid } })
    expect(lock.touch()).toBe(true)
    lock.release()
    expect(FolderLock.holderOf(dir)).toBeUndefined()
    expect(lock.touch()).toBe(false)
  })

  it('counts as held by somebody unknown while nobody can read what it says', () => {
    const dir = spoolFolder()
    const written = { ...currentOwner(), boot: 'another' }
    const hostile = [{ pid: -1 }, { pid: 1.5 }, { thread: '../1' }, { host: 'a\u001b]8;;' }]
    const texts = hostile.map((changes) => JSON.stringify({ ...written, ...changes }))
    for (const text of ['', '{"pid"', 'null', '[]', ...texts]) {
      writeFileSync(join(dir, 'lock-1'), text)
      expect(FolderLock.holderOf(dir)).toMatchObject({ state: 'unknown', owner: undefined })
    }
  })

  it('is not left half made on a full disk, where nobody could tell whose it is', ({ skip }) => {
    const disk = new Disk()
    try {
      skip(!disk.mounted, 'no disk can be mounted here')
      mkdirSync(disk.folder)
      disk.fill()
      expect(() => FolderLock.claim(disk.folder, undefined)).toThrow('ENOSPC')
      expect(readdirSync(disk.folder)).toEqual([])
    } finally {
      disk.close()
    }
  })
})
