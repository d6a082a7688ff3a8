import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FileLock } from '../../../src/cli/migrate/file-lock.js'

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-lock-'))
  path = join(folder, 'lock')
})
afterEach(() => rmSync(folder, { recursive: true }))

/** A process that tries to take the lock, and ends when it is told to. */
async function taker() {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../fixtures/takes-lock.js'), path], {
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

const deadProcess = () => spawnSync(process.execPath, ['--version']).pid

describe('the lock of a file', () => {
  it('is one process’s, and is gone when that releases it', async () => {
    const first = await taker()
    expect(first.said).toBe('taken')
    expect(FileLock.take(path)).toBe(first.child.pid)
    expect(FileLock.holder(path)).toBe(first.child.pid)
    await first.end()
    expect(readdirSync(folder)).toEqual([])
    const lock = FileLock.take(path)
    expect(lock).toBeInstanceOf(FileLock)
    expect(readdirSync(folder)).toEqual(['lock'])
    if (lock instanceof FileLock) lock.release()
    expect(readdirSync(folder)).toEqual([])
  })

  it.each([
    ['that is dead', () => `${deadProcess()} 1`],
    ['that is dead, of which no more is known', () => String(deadProcess())],
    ['of whose number there is another one now', () => `${process.ppid} 1`],
    ['that had the same number', () => `${process.pid} 1`],
    ['that has left nothing in it', () => ''],
  ])('counts for nothing when it is of a process %s', (_, text) => {
    writeFileSync(path, text())
    expect(FileLock.holder(path)).toBeUndefined()
    expect(FileLock.take(path)).toBeInstanceOf(FileLock)
    expect(readdirSync(folder)).toEqual(['lock'])
  })

  it('is taken by exactly one of many that find a dead one’s', async () => {
    for (let round = 0; round < 3; round++) {
      writeFileSync(path, `${deadProcess()} 1`)
      const takers = await Promise.all(Array.from({ length: 6 }, taker))
      expect(takers.filter(({ said }) => said === 'taken')).toHaveLength(1)
      await Promise.all(takers.map(({ end }) => end()))
      expect(readdirSync(folder)).toEqual([])
    }
  })
})
