import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Lock, Locks, lockOf } from '../../src/spool/lock.js'
import { LockFiles } from '../../src/spool/lock-files.js'
import { currentOwner, machineOwners, type Owner } from '../../src/spool/owner.js'
import { spoolFolder } from '../support/spool.js'
import { WatchedFiles } from '../support/watched-files.js'

const another: Owner = { ...currentOwner(), pid: process.ppid }

function setUp() {
  const dir = spoolFolder()
  const disk = new WatchedFiles()
  const owner = { current: currentOwner(), isInUse: machineOwners.isInUse, stateOf: machineOwners.stateOf }
  const owners = { ...owner, current: () => owner.current }
  const plan = { files: disk.files, owners, wallClock: () => 1_700_000_000_000 }
  const write = (number: number, text: string | object) =>
    writeFileSync(join(dir, `lock-${number}`), typeof text === 'string' ? text : JSON.stringify(text))
  return { dir, name: lockOf(dir), path: join(dir, 'lock-1'), disk, owner, plan, write }
}

function setUpFiles() {
  const set = setUp()
  return { ...set, lockFiles: new LockFiles(set.plan) }
}

describe('the files of a lock', () => {
  it('are those with its name and a number', () => {
    const { dir, name, lockFiles } = setUpFiles()
    const strangers = ['lock-x', 'lock-x1', 'lock-1x', 'lock-', 'lock-1234567890123456', 'lock-1.01234567', 'aaaaa7']
    for (const each of ['lock-1', 'lock-12', ...strangers]) writeFileSync(join(dir, each), '')
    expect(lockFiles.numbersOf(name).sort()).toEqual([1, 12])
  })

  it.each([
    ['has links', undefined],
    ['has no links', 'EPERM'],
  ])('appear once on a file system that %s, and nothing else stays', (_, code) => {
    const { dir, disk, path, lockFiles } = setUpFiles()
    disk.fault = (call) => (call.startsWith('linkSync') ? code : undefined)
    expect(lockFiles.create(path)).toBe(true)
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(currentOwner())
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(lockFiles.create(path)).toBe(false)
    expect(readdirSync(dir)).toEqual(['lock-1'])
  })

  it('do not appear when the name of their draft is taken', () => {
    const { dir, disk, path, lockFiles } = setUpFiles()
    disk.fault = (call) => (call.startsWith('openSync lock-1.') ? 'EEXIST' : undefined)
    expect(lockFiles.create(path)).toBe(false)
    expect(readdirSync(dir)).toEqual([])
  })

  it.each(['openSync', 'writeSync'])('do not appear when %s fails, whose error is thrown', (failing) => {
    const { dir, disk, path, lockFiles } = setUpFiles()
    disk.fault = (call) => (call.startsWith(failing) ? 'ENOSPC' : undefined)
    expect(() => lockFiles.create(path)).toThrow('ENOSPC')
    expect(readdirSync(dir)).toEqual([])
  })

  it('count as removed when they are gone, and not when the disk fails', () => {
    const { dir, disk, path, lockFiles, write } = setUpFiles()
    write(1, '')
    expect(lockFiles.remove(path)).toBe(true)
    expect(existsSync(path)).toBe(false)
    expect(lockFiles.remove(path)).toBe(true)
    writeFileSync(join(dir, 'file'), '')
    expect(lockFiles.remove(join(dir, 'file', 'lock-1'))).toBe(true)
    disk.fault = () => 'EIO'
    expect(lockFiles.remove(path)).toBe(false)
  })

  it('are removed only by the thread that they name', () => {
    const { disk, path, lockFiles, write } = setUpFiles()
    write(1, another)
    expect(lockFiles.removeOwn(path)).toBe(true)
    expect(existsSync(path)).toBe(true)
    write(1, 'no owner')
    expect(lockFiles.removeOwn(path)).toBe(true)
    expect(existsSync(path)).toBe(true)
    write(1, currentOwner())
    disk.fault = (call) => (call.startsWith('openSync') ? 'EIO' : undefined)
    expect(lockFiles.removeOwn(path)).toBe(false)
    disk.fault = (call) => (call.startsWith('unlinkSync') ? 'EIO' : undefined)
    expect(lockFiles.removeOwn(path)).toBe(false)
    disk.fault = () => undefined
    expect(lockFiles.removeOwn(path)).toBe(true)
    expect(existsSync(path)).toBe(false)
    expect(lockFiles.removeOwn(path)).toBe(true)
  })
})

describe('a lock on a disk that fails', () => {
  const setUpLocks = () => {
    const set = setUp()
    return { ...set, locks: new Locks(set.plan) }
  }

  it('is free when it was released a moment ago', () => {
    const { name, disk, locks, write } = setUpLocks()
    write(1, another)
    disk.fault = (call) => (call === 'lstatSync lock-1' ? 'ENOENT' : undefined)
    expect(locks.holderOf(name)).toBeUndefined()
  })

  it('does not go to a claimer when the file that it found is gone', () => {
    const { dir, name, path, locks, write } = setUpLocks()
    write(1, another)
    const found = locks.holderOf(name)
    rmSync(path)
    expect(locks.claim(name, found)).toBeUndefined()
    expect(readdirSync(dir)).toEqual([])
  })

  it('is taken again when another one was quicker and is gone', () => {
    const { name, disk, locks } = setUpLocks()
    const codes = ['EEXIST']
    disk.fault = (call) => (call.startsWith('linkSync') ? codes.pop() : undefined)
    expect(locks.take(name)).toBeInstanceOf(Lock)
  })

  it('is the calling thread’s own only where threads can be told apart', () => {
    const { name, owner, locks, write } = setUpLocks()
    const isOwn = () => locks.isOwn(locks.holderOf(name)!)
    write(1, currentOwner())
    expect(isOwn()).toBe(true)
    write(1, another)
    expect(isOwn()).toBe(false)
    const { host, pid } = currentOwner()
    write(1, { host, pid })
    expect(isOwn()).toBe(false)
    owner.current = { host, pid }
    expect(isOwn()).toBe(false)
    write(1, '')
    expect(isOwn()).toBe(false)
  })

  it('has no sign of life when its folder has become a file, and throws what else fails', () => {
    const { dir, name, disk, locks } = setUpLocks()
    const lock = locks.claim(name, undefined)!
    expect(lock.touch()).toBe(true)
    expect(statSync(join(dir, 'lock-1')).mtimeMs).toBe(1_700_000_000_000)
    disk.fault = () => 'EROFS'
    expect(() => lock.touch()).toThrow('EROFS')
    disk.fault = () => undefined
    rmSync(dir, { recursive: true })
    writeFileSync(dir, '')
    expect(lock.touch()).toBe(false)
  })

  it('leaves a later holder when it is cleared, and removes the earlier ones', () => {
    const { dir, name, locks, write } = setUpLocks()
    for (const number of [1, 3]) write(number, another)
    locks.claim(name, { ...locks.holderOf(name)!, number: 1 })!.clear()
    expect(readdirSync(dir)).toEqual(['lock-3'])
  })

  it('is not removed by clearing when it names another thread by now', () => {
    const { dir, name, locks, write } = setUpLocks()
    const lock = locks.claim(name, undefined)!
    write(1, another)
    lock.clear()
    expect(readdirSync(dir)).toEqual(['lock-1'])
  })
})

describe('the process that holds a lock', () => {
  it.each([
    ['runs when it is alive', () => another, true],
    ['does not run when its thread is gone, though its number is in use', () => ({ ...another, started: '1' }), false],
    ['does not run when it is hidden and its start is known', () => ({ ...another, namespace: 'pid:[1]' }), false],
    ['runs when only its number is known, and it is in use', () => ({ host: 'elsewhere', pid: process.ppid }), true],
    [
      'does not run when only its number is known, and it is free',
      () => ({ host: 'elsewhere', pid: spawnSync('true').pid }),
      false,
    ],
    ['does not run when nobody holds it', () => undefined, false],
  ])('%s', (_, holder, runs) => {
    const { name, path, plan, write } = setUp()
    const locks = new Locks(plan)
    const owner = holder()
    if (owner === another) plan.owners.stateOf = () => 'alive'
    if (owner !== undefined) write(1, owner)
    expect(locks.processOf(name)).toEqual(runs ? { pid: process.ppid, path } : undefined)
  })

  it('is unknown when the file of the lock is a folder', () => {
    const { name, path, plan } = setUp()
    mkdirSync(path)
    expect(new Locks(plan).holderOf(name)).toMatchObject({ state: 'unknown', owner: undefined })
  })
})
