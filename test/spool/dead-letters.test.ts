import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { DeadLetters } from '../../src/spool/dead-letters.js'
import { linesIn, spoolFolder } from '../support/spool.js'
import { WatchedFiles } from '../support/watched-files.js'

/** Dead letters with a bound of 16,000 bytes. A file of them goes on up to 1,000. */
function setUp() {
  const dir = spoolFolder()
  const folder = join(dir, 'dead-letter')
  const disk = new WatchedFiles()
  const letters = new DeadLetters({
    dir,
    maxBytes: 16_000,
    wallClock: () => 36,
    random: () => 0.5,
    files: disk.files,
    home: () => dir,
  })
  const refusal = { status: 400, reason: 'not valid', validationErrors: [], rejectedAt: 36 }
  const add = (text: string) => {
    const body = JSON.stringify({ message: text })
    letters.add({ kind: 'logs', bucket: 'b', severity: 2, idempotencyKey: 'key', time: 36, refusal, body })
  }
  const commit = (text: string) => {
    add(text)
    letters.commit()
  }
  /** A file of another process, of some age: the higher, the younger. */
  const write = (name: string, { bytes, age }: { bytes: number; age: number }) => {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeFileSync(join(folder, name), 'x'.repeat(bytes))
    utimesSync(join(folder, name), age, age)
  }
  const bytesOf = (name: string) => statSync(join(folder, name)).size
  return { folder, disk, letters, add, commit, write, bytesOf }
}

const own = (number: number) => `${process.pid}-10-${(2 ** 31).toString(36)}-00000${number}.ndjson`

describe('the dead letters of an engine', () => {
  it('are lines with ascending numbers in a file that is named after process, time and chance', () => {
    const { folder, add, letters, commit } = setUp()
    add('one')
    add('two')
    letters.commit()
    commit('three')
    expect(readdirSync(folder)).toEqual([own(1)])
    expect(linesIn(folder).map(({ number, body }) => [number, body])).toEqual([
      [0, '{"message":"one"}'],
      [1, '{"message":"two"}'],
      [2, '{"message":"three"}'],
    ])
    expect(readFileSync(join(folder, own(1)), 'utf8')).toMatch(/\n$/)
  })

  it('need no disk while there are none', () => {
    const { disk, letters } = setUp()
    letters.commit()
    expect(disk.calls).toEqual([])
  })

  it('go on in another file, with numbers from 0, when one has more than a sixteenth of the bound', () => {
    const { folder, commit, bytesOf } = setUp()
    commit('')
    const frame = bytesOf(own(1))
    commit('x'.repeat(1000 - 2 * frame))
    expect(bytesOf(own(1))).toBe(1000)
    commit('at the bound')
    expect(readdirSync(folder)).toEqual([own(1)])
    commit('beyond it')
    expect(readdirSync(folder).sort()).toEqual([own(1), own(2)])
    expect(linesIn(folder).map(({ number }) => number)).toEqual([0, 1, 2, 0])
  })

  it('go on in another file when one has a single byte more than that', () => {
    const { folder, commit, bytesOf } = setUp()
    commit('')
    commit('x'.repeat(1001 - 2 * bytesOf(own(1))))
    expect(bytesOf(own(1))).toBe(1001)
    commit('beyond it')
    expect(readdirSync(folder).sort()).toEqual([own(1), own(2)])
  })

  it('take room from the oldest files, and no more than they need', () => {
    const { folder, commit, write } = setUp()
    // The first in the listing is not the oldest.
    write('1-a-a-000001.ndjson', { bytes: 5000, age: 3000 })
    write('1-a-a-000002.ndjson', { bytes: 5000, age: 1000 })
    write('1-a-a-000003.ndjson', { bytes: 5001, age: 2000 })
    commit('one')
    expect(readdirSync(folder).sort()).toEqual(['1-a-a-000001.ndjson', '1-a-a-000003.ndjson', own(1)].sort())
  })

  it('take no room when all fit exactly', () => {
    const { folder, commit, write } = setUp()
    write('1-a-a-000001.ndjson', { bytes: 15_000, age: 1000 })
    commit('one')
    expect(readdirSync(folder)).toHaveLength(2)
  })

  it('take room from several files, set-aside ones and acknowledgements included', () => {
    const { folder, commit, write } = setUp()
    write('1-a-a-000001.replay-0123abcd.ndjson', { bytes: 9000, age: 1000 })
    write('1-a-a-000001.replay-0123abcd.acks', { bytes: 9000, age: 2000 })
    write('1-a-a-000002.acks.ndjson', { bytes: 9000, age: 500 })
    write('1-a-a-000003.ndjson', { bytes: 9000, age: 3000 })
    commit('one')
    expect(readdirSync(folder).sort()).toEqual(['1-a-a-000002.acks.ndjson', '1-a-a-000003.ndjson', own(1)].sort())
  })

  it('pass by what is no file, or is gone when they look at it', () => {
    const { folder, disk, commit, write } = setUp()
    write('1-a-a-000001.ndjson', { bytes: 15_001, age: 3000 })
    symlinkSync('elsewhere', join(folder, '1-a-a-000002.ndjson'))
    disk.files.readdirSync = () => ['1-a-a-000001.ndjson', '1-a-a-000002.ndjson', '1-a-a-000003.ndjson']
    commit('one')
    expect(readdirSync(folder).sort()).toEqual(['1-a-a-000002.ndjson', own(1)].sort())
    expect(disk.calls.filter((call) => call.startsWith('unlinkSync'))).toEqual(['unlinkSync 1-a-a-000001.ndjson'])
  })

  it('are written when a file cannot be removed, and the first error is thrown', () => {
    const { folder, disk, commit, write } = setUp()
    for (const number of [1, 2, 3]) write(`1-a-a-00000${number}.ndjson`, { bytes: 9000, age: number })
    const codes = ['EACCES', 'EBUSY', 'EIO']
    disk.fault = (call) => (call.startsWith('unlinkSync') ? codes.shift() : undefined)
    expect(() => commit('one')).toThrow('EACCES')
    expect(linesIn(folder)).toHaveLength(1)
    expect(() => commit('two')).not.toThrow()
  })

  it('are written without an error when another engine was quicker to remove a file', () => {
    const { folder, disk, commit, write } = setUp()
    for (const number of [1, 2]) write(`1-a-a-00000${number}.ndjson`, { bytes: 9000, age: number })
    disk.fault = (call) => (call === 'unlinkSync 1-a-a-000001.ndjson' ? 'ENOENT' : undefined)
    commit('one')
    expect(linesIn(folder)).toHaveLength(1)
  })

  it('throw the error of a write, or else that of closing the file', () => {
    const { disk, commit } = setUp()
    commit('one')
    disk.fault = (call) => (/^(write|close)Sync .*-000001/.test(call) ? `E${call.slice(0, 5)}` : undefined)
    expect(() => commit('two')).toThrow('Ewrite')
    disk.fault = (call) => (/^closeSync .*-000001/.test(call) ? 'EDQUOT' : undefined)
    expect(() => commit('three')).toThrow('EDQUOT')
  })
})
