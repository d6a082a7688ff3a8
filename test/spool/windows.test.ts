import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Locks } from '../../src/spool/lock.js'
import { machineOwners, type Owners } from '../../src/spool/owner.js'
import { currentUser, syncPath } from '../../src/spool/spool-folder.js'
import { setUpLoneSpool } from '../support/lone-spool.js'
import { leaveRecords, linesIn, passUntil, setUpSpool, spoolFolder } from '../support/spool.js'
import { windowsFiles } from '../support/windows-files.js'

const hidden = process.geteuid

describe('a spool on a file system like that of Windows', () => {
  beforeEach(() => {
    Object.defineProperty(process, 'geteuid', { value: undefined, configurable: true })
  })
  afterEach(() => {
    Object.defineProperty(process, 'geteuid', { value: hidden, configurable: true })
  })

  it('knows no user', () => {
    expect(currentUser()).toBeUndefined()
  })

  it.each([false, true])('keeps records, and removes what is delivered, with spoolSync: %s', async (sync) => {
    const dir = spoolFolder()
    const { clock, sender, said, log, end } = setUpSpool(dir, { spool: { sync, files: windowsFiles() } })
    for (let number = 0; number < 300; number++) log(`{"message":"kept ${number}"}`)
    await passUntil(clock, 10_000, () => sender.keys.length === 300)
    await end()
    expect({ said, left: readdirSync(dir) }).toEqual({ said: [], left: [] })
  })

  it.each([false, true])('gives what an ended process has left to the next one, with spoolSync: %s', async (sync) => {
    const dir = spoolFolder()
    await leaveRecords(dir, 3, { spool: { sync, files: windowsFiles() } })
    expect(linesIn(dir)).toHaveLength(3)
    const { clock, logs, said, spool } = setUpLoneSpool(dir, { sync, files: windowsFiles() })
    await clock.advance(2000)
    const read = logs.read('adopted')
    expect(read.map(({ message }) => message)).toEqual(['left 0', 'left 1', 'left 2'])
    for (const { ref } of read) logs.settle(ref)
    spool.close()
    expect([readdirSync(dir), said]).toEqual([[], []])
  })

  it('has locks that a living process keeps and a dead one loses, though threads have no names', () => {
    const current = () => ({ host: 'pc', pid: 7 })
    const stateOf = vi.fn<Owners['stateOf']>(() => 'unknown')
    const owners: Owners = { ...machineOwners, current, stateOf, isInUse: (pid) => pid === 7 }
    const locks = new Locks({ files: windowsFiles(), owners, wallClock: Date.now })
    const name = join(spoolFolder(), 'lock')
    expect(locks.take(name)).toMatchObject({ touch: expect.any(Function) })
    expect(locks.take(name)).toMatchObject({ pid: 7 })
    owners.isInUse = () => false
    expect(locks.take(name)).toMatchObject({ touch: expect.any(Function) })
  })

  it('syncs a path of which no folder can be synced', () => {
    expect(() => syncPath(spoolFolder(), windowsFiles())).not.toThrow()
  })
})
