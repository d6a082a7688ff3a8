import { mkdirSync, rmSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type Files, nodeFiles } from '../../src/runtime/files.js'
import {
  currentUser,
  isOurFolder,
  makeFolder,
  spoolFolderFault,
  syncFolder,
  syncPath,
} from '../../src/spool/spool-folder.js'
import { spoolFolder } from '../support/spool.js'
import { WatchedFiles } from '../support/watched-files.js'

afterEach(() => vi.restoreAllMocks())

describe('a folder that is made', () => {
  it('can be read only by its owner, and so can those above it', () => {
    const parent = spoolFolder()
    makeFolder(join(parent, 'a', 'b'), nodeFiles)
    const modes = [join(parent, 'a'), join(parent, 'a', 'b')].map((path) => statSync(path).mode & 0o777)
    expect(modes).toEqual([0o700, 0o700])
  })

  it('is not made again', () => {
    const disk = new WatchedFiles()
    makeFolder(spoolFolder(), disk.files)
    expect(disk.calls.filter((call) => call.startsWith('mkdirSync'))).toEqual([])
  })

  it('may be made by another process meanwhile', () => {
    const path = join(spoolFolder(), 'folder')
    const disk = new WatchedFiles()
    disk.fault = (call) => {
      if (!call.startsWith('mkdirSync')) return undefined
      mkdirSync(path)
      return 'EEXIST'
    }
    expect(() => makeFolder(path, disk.files)).not.toThrow()
    rmSync(path, { recursive: true })
    disk.fault = (call) => (call.startsWith('mkdirSync') ? 'EACCES' : undefined)
    expect(() => makeFolder(path, disk.files)).toThrow('EACCES')
  })
})

describe('a folder on a drive that is not there', () => {
  it('fails with the error of the file system', () => {
    const fail = () => {
      throw Object.assign(new Error('no such drive'), { code: 'ENOENT' })
    }
    const files = {
      ...nodeFiles,
      existsSync: () => false,
      statSync: () => undefined,
      mkdirSync: fail,
    } as unknown as Files
    expect(() => makeFolder('/spool', files)).toThrow('no such drive')
  })
})

describe('a folder that is synced', () => {
  it('is closed, even when the disk fails', () => {
    const path = join(spoolFolder(), 'folder')
    mkdirSync(path)
    const disk = new WatchedFiles()
    disk.fault = (call) => (call.startsWith('fsyncSync') ? 'EIO' : undefined)
    expect(() => syncFolder(path, disk.files)).toThrow('EIO')
    expect(disk.calls).toEqual(['openSync folder', 'fsyncSync folder', 'closeSync folder'])
  })

  const syncs = ({ calls }: WatchedFiles) => calls.filter((call) => call.startsWith('fsyncSync'))

  it('is synced with all those above it', () => {
    const disk = new WatchedFiles()
    const path = spoolFolder()
    syncPath(path, disk.files)
    const names = resolve(path).split('/').reverse()
    expect(syncs(disk)).toEqual(names.map((name) => `fsyncSync ${name}`))
  })

  it.each(['EACCES', 'EPERM', 'EINVAL'])('may have one above it that gives %s', (code) => {
    const disk = new WatchedFiles()
    const path = join(spoolFolder(), 'folder')
    mkdirSync(path)
    disk.fault = (call) => (call.startsWith('fsyncSync sluice') ? code : undefined)
    syncPath(path, disk.files)
    expect(syncs(disk)).toHaveLength(resolve(path).split('/').length)
    disk.fault = (call) => (call.startsWith('fsyncSync sluice') ? 'EIO' : undefined)
    expect(() => syncPath(path, disk.files)).toThrow('EIO')
  })
})

describe('the user of this process', () => {
  it('has its groups and that of the process', () => {
    expect(currentUser()).toEqual({
      id: process.geteuid!(),
      groups: new Set([...process.getgroups!(), process.getegid!()]),
    })
    vi.spyOn(process, 'getgroups').mockReturnValue([7, 8])
    vi.spyOn(process, 'getegid').mockReturnValue(9)
    expect(currentUser()?.groups).toEqual(new Set([7, 8, 9]))
  })

  it.each(['getgroups', 'getegid', 'geteuid'] as const)('may be on a system without %s', (name) => {
    const before = process[name]
    Object.assign(process, { [name]: undefined })
    try {
      expect(currentUser()?.id).toBe(name === 'geteuid' ? undefined : process.geteuid!())
      if (name === 'getegid') expect(currentUser()?.groups).toEqual(new Set(process.getgroups!()))
      if (name === 'getgroups') expect(currentUser()?.groups).toEqual(new Set([process.getegid!()]))
    } finally {
      Object.assign(process, { [name]: before })
    }
  })

  it('is unknown where it may not be read', () => {
    vi.spyOn(process, 'geteuid').mockImplementation(() => {
      throw new Error('denied')
    })
    expect(currentUser()).toBeUndefined()
  })

  it('has no spool in a file, and a message says what to do', () => {
    const facts = { isDirectory: () => false, isSymbolicLink: () => false, mode: 0o600, uid: 1000, gid: 1000 }
    expect(spoolFolderFault(facts, currentUser())).toBe(
      'is not a folder: remove it or change SLUICE_SPOOL_DIR (spoolDir)',
    )
  })

  it('may have a folder of a group of others that the group cannot write', () => {
    const facts = { isDirectory: () => true, isSymbolicLink: () => false, mode: 0o750, uid: 1000, gid: 3000 }
    expect(spoolFolderFault(facts, { id: 1000, groups: new Set([1000]) })).toBeUndefined()
  })
})

describe('a folder in the spool', () => {
  interface Facts {
    uid: number
    gid: number
    mode: number
  }

  /** This user is 1000. Its own folder has the facts of `home`. */
  function isOurs(found: Facts, home: Facts, isDirectory = true): boolean {
    vi.spyOn(process, 'geteuid').mockReturnValue(1000)
    vi.spyOn(process, 'getegid').mockReturnValue(1000)
    vi.spyOn(process, 'getgroups').mockReturnValue([1000])
    const lstatSync = (path: string) => ({ isDirectory: () => isDirectory, ...(path === 'home' ? home : found) })
    return isOurFolder('found', { home: () => 'home', files: { ...nodeFiles, lstatSync: lstatSync as never } })
  }

  const home = { uid: 1000, gid: 1000, mode: 0o700 }
  it('is ours when this user has made it and no other can write it', () => {
    expect(isOurs(home, { uid: 1, gid: 1, mode: 0 })).toBe(true)
    expect(isOurs({ ...home, gid: 3000, mode: 0o770 }, home)).toBe(false)
    expect(isOurs({ ...home, uid: 1001 }, home)).toBe(false)
  })

  it('is ours when the file system gives all folders this owner, group and mode', () => {
    const shared = { uid: 1001, gid: 3000, mode: 0o777 }
    expect(isOurs(shared, shared)).toBe(true)
    expect(isOurs({ ...shared, mode: 0o755 }, shared)).toBe(true)
    expect(isOurs(shared, { ...shared, mode: 0o757 })).toBe(false)
    expect(isOurs(shared, { ...shared, uid: 1002 })).toBe(false)
    expect(isOurs(shared, { ...shared, gid: 3001 })).toBe(false)
  })

  it('is not ours when it is no folder', () => {
    expect(isOurs(home, home, false)).toBe(false)
  })

  it('is ours where files have no owner, as on Windows', () => {
    const { geteuid } = process
    const path = spoolFolder()
    const facts = nodeFiles.lstatSync(path)
    const files = { ...nodeFiles, lstatSync: (() => ({ ...facts, isDirectory: () => true, uid: 7 })) as never }
    Object.assign(process, { geteuid: undefined })
    try {
      expect(isOurFolder(path, { home: () => expect.unreachable(), files })).toBe(true)
    } finally {
      Object.assign(process, { geteuid })
    }
  })
})
