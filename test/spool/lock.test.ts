import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Lock, lockOf, machineLocks } from '../../src/spool/lock.js'
import { currentOwner } from '../../src/spool/owner.js'
import { Disk } from '../support/disk.js'
import { spoolFolder } from '../support/spool.js'

const deadProcess = () => spawnSync('true').pid

describe('the lock of a folder', () => {
  it('does not go to a slow claimer when another one has claimed it since', () => {
    const lock = lockOf(spoolFolder())
    writeFileSync(`${lock}-1`, '{"host":"gone","pid":1}')
    const [slow, quick] = [machineLocks.holderOf(lock), machineLocks.holderOf(lock)]
    expect(machineLocks.claim(lock, quick)).toBeDefined()
    expect(machineLocks.claim(lock, slow)).toBeUndefined()
  })

  it('does not go to a slow claimer when another one has released it since, and a third one holds it', () => {
    const dir = spoolFolder()
    const lock = lockOf(dir)
    writeFileSync(`${lock}-1`, '{"host":"gone","pid":1}')
    utimesSync(`${lock}-1`, 1, 1)
    const slow = machineLocks.holderOf(lock)
    machineLocks.claim(lock, slow)!.clear()
    const third = machineLocks.claim(lock, machineLocks.holderOf(lock))!
    expect(machineLocks.claim(lock, slow)).toBeUndefined()
    expect(readdirSync(dir)).toEqual(['lock-1'])
    expect(third.touch()).toBe(true)
  })

  it('does not go to a claimer when its holder has given a sign of life since', () => {
    const dir = spoolFolder()
    const lock = lockOf(dir)
    writeFileSync(`${lock}-1`, JSON.stringify({ ...currentOwner(), namespace: 'pid:[1]' }))
    const found = machineLocks.holderOf(lock)
    utimesSync(`${lock}-1`, 1, 1)
    expect(machineLocks.claim(lock, found)).toBeUndefined()
    expect(readdirSync(dir)).toEqual(['lock-1'])
  })

  it('names its holder until it is released', () => {
    const dir = spoolFolder()
    const name = lockOf(dir)
    expect(machineLocks.holderOf(name)).toBeUndefined()
    const lock = machineLocks.claim(name, undefined)!
    expect(machineLocks.holderOf(name)).toMatchObject({ state: 'alive', owner: { pid: process.pid } })
    expect(lock.touch()).toBe(true)
    lock.release()
    expect(machineLocks.holderOf(name)).toBeUndefined()
    expect(lock.touch()).toBe(false)
    expect(readdirSync(dir)).toEqual([])
  })

  it('goes back to an earlier holder that only seemed dead, unless it is cleared', () => {
    const dir = spoolFolder()
    const name = lockOf(dir)
    const frozen = machineLocks.claim(name, undefined)!
    machineLocks.claim(name, machineLocks.holderOf(name))!.release()
    expect(frozen.touch()).toBe(true)
    expect(machineLocks.holderOf(name)).toMatchObject({ number: 1, state: 'alive' })
    machineLocks.claim(name, machineLocks.holderOf(name))!.clear()
    expect(frozen.touch()).toBe(false)
    expect(readdirSync(dir)).toEqual([])
  })

  it('is the highest until another thread takes it from a holder that only seems dead', () => {
    const dir = spoolFolder()
    const name = lockOf(dir)
    writeFileSync(join(dir, 'lock-1'), JSON.stringify({ ...currentOwner(), boot: 'another' }))
    const frozen = machineLocks.claim(name, machineLocks.holderOf(name))!
    expect(frozen.isHighest()).toBe(true)
    const taken = machineLocks.claim(name, machineLocks.holderOf(name))!
    expect([frozen.isHighest(), taken.isHighest()]).toEqual([false, true])
    rmSync(dir, { recursive: true })
    expect(() => taken.isHighest()).toThrow('ENOENT')
  })

  it('stays when it is released by a holder that has lost it to another process', () => {
    const dir = spoolFolder()
    const lock = machineLocks.claim(lockOf(dir), undefined)!
    rmSync(join(dir, 'lock-1'))
    writeFileSync(join(dir, 'lock-1'), JSON.stringify({ ...currentOwner(), pid: process.ppid }))
    lock.release()
    expect(readdirSync(dir)).toEqual(['lock-1'])
  })

  it('counts as held by an unknown owner when its file names no possible thread', () => {
    const dir = spoolFolder()
    const written = { ...currentOwner(), boot: 'another' }
    const hostile = [{ pid: -1 }, { pid: 1.5 }, { thread: '../1' }, { host: 'a\u001b]8;;' }]
    const texts = hostile.map((changes) => JSON.stringify({ ...written, ...changes }))
    for (const text of ['', '{"pid"', 'null', '[]', ...texts]) {
      writeFileSync(join(dir, 'lock-1'), text)
      expect(machineLocks.holderOf(lockOf(dir))).toMatchObject({ state: 'unknown', owner: undefined })
    }
  })

  it('is not left without an owner on a full disk', ({ skip }) => {
    const disk = new Disk()
    try {
      skip(!disk.mounted, 'no disk can be mounted here')
      mkdirSync(disk.folder)
      disk.fill()
      expect(() => machineLocks.claim(lockOf(disk.folder), undefined)).toThrow('ENOSPC')
      expect(readdirSync(disk.folder)).toEqual([])
    } finally {
      disk.close()
    }
  })
})

describe('the lock of a file', () => {
  it('is held by a living process when only its number is known', () => {
    const name = lockOf(spoolFolder())
    const { host } = currentOwner()
    writeFileSync(`${name}-1`, JSON.stringify({ host, pid: process.ppid }))
    expect(machineLocks.take(name)).toEqual({ pid: process.ppid, path: `${name}-1` })
  })

  const own = currentOwner()
  it.each([
    ['a dead process', () => ({ ...own, pid: deadProcess(), thread: deadProcess() })],
    ['a dead process when only its number is known', () => ({ host: own.host, pid: deadProcess() })],
    ['a process whose number another one has now', () => ({ ...own, pid: process.ppid, thread: process.ppid })],
    ['a process that had the number of this one', () => ({ ...own, started: '1' })],
    ['a process from before a restart of the machine', () => ({ ...own, boot: 'another' })],
    ['a process of a container that is gone', () => ({ ...own, namespace: 'pid:[1]' })],
    ['a process that has left nothing in it', () => undefined],
  ])('counts for nothing when it is that of %s', (_, owner) => {
    const dir = spoolFolder()
    const name = lockOf(dir)
    writeFileSync(`${name}-1`, JSON.stringify(owner()) ?? '')
    expect(machineLocks.processOf(name)).toBeUndefined()
    const lock = machineLocks.take(name)
    expect(lock).toBeInstanceOf(Lock)
    expect(machineLocks.processOf(name)).toEqual({ pid: process.pid, path: `${name}-2` })
    if (lock instanceof Lock) lock.clear()
    expect(readdirSync(dir)).toEqual([])
  })
})
