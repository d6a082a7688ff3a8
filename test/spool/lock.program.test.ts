import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Lock, lockOf, machineLocks } from '../../src/spool/lock.js'
import { currentOwner } from '../../src/spool/owner.js'
import { full } from '../support/full.js'
import { startProgram } from '../support/programs.js'
import { spoolFolder } from '../support/spool.js'

describe('the lock of a folder', () => {
  it.runIf(full)('goes to one of several threads that claim it at the same moment from a dead holder', async () => {
    const dir = spoolFolder()
    const folders = Array.from({ length: 50 }, (_, index) => join(dir, String(index)))
    for (const folder of folders) {
      mkdirSync(folder)
      writeFileSync(join(folder, 'lock-1'), '{"host":"gone","pid":1}')
    }
    const { stdout } = await startProgram('claims.js', { arguments: folders }).ended
    expect(JSON.parse(stdout)).toEqual(folders.map(() => 1))
    for (const folder of folders) expect(readdirSync(folder).sort()).toEqual(['lock-1', 'lock-2'])
  })
})

describe('the lock of a file', () => {
  /** A process that tries to take the lock, and ends on request. */
  async function taker(name: string) {
    const child = spawn(process.execPath, [join(import.meta.dirname, '../fixtures/takes-lock.js'), name], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const [said] = (await once(child.stdout, 'data')) as [Buffer]
    const end = async () => {
      const closed = once(child, 'close')
      child.stdin.end()
      await closed
    }
    return { child, said: said.toString().trim(), end }
  }

  it('is held by one process, and is gone when that process releases it', async () => {
    const dir = spoolFolder()
    const name = lockOf(dir)
    const first = await taker(name)
    expect(first.said).toBe('taken')
    const holder = { pid: first.child.pid, path: join(dir, 'lock-1') }
    expect(machineLocks.take(name)).toEqual(holder)
    expect(machineLocks.processOf(name)).toEqual(holder)
    await first.end()
    expect(readdirSync(dir)).toEqual([])
    const lock = machineLocks.take(name)
    expect(lock).toBeInstanceOf(Lock)
    expect(readdirSync(dir)).toEqual(['lock-1'])
    if (lock instanceof Lock) lock.clear()
    expect(readdirSync(dir)).toEqual([])
  })

  it.runIf(full)('is taken by exactly one of many processes that find a dead holder', async () => {
    for (let round = 0; round < 3; round++) {
      const dir = spoolFolder()
      writeFileSync(join(dir, 'lock-1'), JSON.stringify({ ...currentOwner(), started: '1' }))
      const takers = await Promise.all(Array.from({ length: 6 }, () => taker(lockOf(dir))))
      expect(takers.filter(({ said }) => said === 'taken')).toHaveLength(1)
      await Promise.all(takers.map(({ end }) => end()))
      expect(readdirSync(dir)).toEqual([])
    }
  })
})
