import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Rejection } from '../../src/delivery/rules.js'
import { isOnDisk } from '../support/logs.js'
import { setUpLoneSpool } from '../support/lone-spool.js'
import { linesIn, segmentsIn, spoolFolder } from '../support/spool.js'

const messages = (dir: string) => linesIn(dir).map(({ body }) => JSON.parse(body).message)
const rejection: Rejection = { type: 'rejected', status: 400, reason: 'not valid', validationErrors: [] }

/** A spool that has written one record, when the disk begins to fail. */
function setUpFailing(code = 'ENOSPC') {
  const dir = spoolFolder()
  const set = setUpLoneSpool(dir)
  set.logs.keep('written')
  set.spool.commit()
  set.disk.fault = (call) => (/^writeSync .*ndjson/.test(call) ? code : undefined)
  return { dir, ...set }
}

describe('a disk that takes no lines', () => {
  it('is reported once, and memory alone has the records until it does', async () => {
    const { clock, dir, disk, spool, logs, said } = setUpFailing()
    const one = logs.keep('one')
    spool.commit()
    expect([isOnDisk(one), spool.takes, spool.lossReason]).toEqual([false, false, 'queue-full'])
    expect(said).toEqual([expect.stringMatching(/cannot be written \(ENOSPC.*records are in memory alone/)])
    await clock.advance(999)
    disk.fault = () => undefined
    const two = logs.keep('two')
    spool.commit()
    expect(isOnDisk(two)).toBe(false)
    await clock.advance(1)
    spool.commit()
    expect(said.slice(1)).toEqual([expect.stringMatching(/can be written again; 2 records were in memory alone/)])
    expect([isOnDisk(one), isOnDisk(two)]).toEqual([true, true])
    expect(messages(dir)).toEqual(['written', 'one', 'two'])
  })

  it('has no file without lines', () => {
    const { dir, spool, logs } = setUpFailing()
    logs.keep('one')
    spool.commit()
    expect(segmentsIn(dir)).toHaveLength(1)
  })

  it('gets the records of one segment in several files, which come back from them, and are acknowledged there', async () => {
    const { clock, dir, disk, spool, logs } = setUpFailing()
    logs.keep('one')
    spool.commit()
    disk.fault = () => undefined
    await clock.advance(1000)
    logs.keep('two')
    logs.evict()
    expect(segmentsIn(dir)).toHaveLength(2)
    const read = logs.read('own')
    expect(read.map(({ message }) => message)).toEqual(['written', 'one', 'two'])
    for (const { ref } of read.slice(0, 2)) logs.settle(ref)
    spool.close()
    const next = setUpLoneSpool(dir)
    await next.clock.advance(2000)
    expect(next.logs.read('adopted').map(({ message }) => message)).toEqual(['two'])
  })

  it('has whole lines only, when it takes a part of them', () => {
    const { dir, disk, spool, logs } = setUpFailing('')
    const refs = ['one', 'two', 'three'].map((text) => logs.keep(text))
    let calls = 0
    disk.fault = (call) => (call.startsWith('writeSync') && ++calls > 1 ? 'ENOSPC' : undefined)
    disk.taken = (bytes) => Math.floor(bytes / 2)
    spool.commit()
    expect(refs.map(isOnDisk)).toEqual([true, false, false])
    expect(messages(dir)).toEqual(['written', 'one'])
    expect(readFileSync(segmentsIn(dir)[0]!, 'utf8')).toMatch(/\n$/)
  })

  it('is asked at once when somebody looks, and by an eviction', () => {
    const { disk, spool, logs } = setUpFailing()
    const one = logs.keep('one')
    logs.evict()
    expect(isOnDisk(one)).toBe(false)
    disk.fault = () => undefined
    logs.evict()
    expect(isOnDisk(one)).toBe(false)
    spool.look()
    logs.evict()
    expect(isOnDisk(one)).toBe(true)
    expect(logs.ledger.read()).toMatchObject({ spooled: 2, queued: 0 })
  })

  it('costs nothing where it does not answer a read: the records stay', () => {
    const { disk, logs, said } = setUpFailing()
    disk.fault = () => undefined
    logs.evict()
    disk.fault = (call) => (call.startsWith('readSync') ? 'EIO' : undefined)
    expect(logs.read('own')).toEqual([])
    expect(said).toEqual([expect.stringMatching(/cannot be read back: they stay on disk until they can \(EIO/)])
    expect(logs.ledger.read()).toMatchObject({ spooled: 1, inFlight: 0 })
    disk.fault = () => undefined
    expect(logs.read('own').map(({ message }) => message)).toEqual(['written'])
  })

  it.each([
    ['the file is gone', () => {}],
    ['a folder has its name', (path: string) => mkdirSync(path)],
    ['a link has its name', (path: string) => symlinkSync('/etc/hostname', path)],
  ])('costs the records that are nowhere else, where %s', (_, replace) => {
    const { dir, disk, spool, logs } = setUpFailing()
    disk.fault = () => undefined
    logs.keep('error', { severity: 4 })
    spool.commit()
    logs.evict()
    const file = segmentsIn(dir).find((path) => path.includes('info'))!
    rmSync(file)
    replace(file)
    expect(logs.read('own').map(({ message }) => message)).toEqual(['error'])
    expect(logs.lost).toEqual([{ reason: 'spool-full', count: 1 }])
    expect(logs.ledger.read()).toMatchObject({ accepted: 2, inFlight: 1, dropped: { 'spool-full': 1 } })
  })

  it('is tried again every ten seconds while no record comes', async () => {
    const { clock, disk, spool, logs } = setUpFailing()
    const ref = logs.keep('one')
    spool.commit()
    disk.fault = () => undefined
    await clock.advance(12_000)
    expect(isOnDisk(ref)).toBe(true)
  })

  it('may fail to close a file, which is said and costs nothing', () => {
    const { dir, disk, spool, logs, said } = setUpFailing()
    disk.fault = (call) => (/^closeSync info/.test(call) ? 'EIO' : undefined)
    const ref = logs.keep('one')
    spool.close()
    expect(said).toEqual([expect.stringMatching(/a file could not be closed: .* may cost its last records \(EIO/)])
    expect([isOnDisk(ref), messages(dir)]).toEqual([true, ['written', 'one']])
  })

  it('is told which records are settled later, when it cannot be told now', async () => {
    const { clock, dir, disk, spool, logs, said } = setUpFailing()
    disk.fault = (call) => (call.endsWith('.acks') ? 'EIO' : undefined)
    const ref = logs.keep('one')
    spool.commit()
    logs.settle(ref)
    await clock.advance(100)
    expect(said).toEqual([expect.stringMatching(/cannot write which records are delivered/)])
    disk.fault = () => undefined
    spool.close()
    const next = setUpLoneSpool(dir)
    await next.clock.advance(2000)
    expect(next.logs.read('adopted').map(({ message }) => message)).toEqual(['written'])
  })

  it('keeps a file that it cannot remove, with all of its records acknowledged, and loses it later', async () => {
    const { clock, dir, disk, spool, logs, said } = setUpFailing()
    disk.fault = (call) => (call.startsWith('unlinkSync') ? 'EBUSY' : undefined)
    const refs = Array.from({ length: 2048 }, (_, index) => logs.keep(`${index}`))
    logs.keep('in the next segment')
    spool.commit()
    for (const { ref } of logs.read('own', 2048)) logs.settle(ref)
    expect(said).toEqual([expect.stringMatching(/cannot be removed: it takes room .*EBUSY/)])
    expect(refs).toHaveLength(2048)
    const next = setUpLoneSpool(dir)
    await next.clock.advance(2000)
    expect(next.logs.read('adopted')).toEqual([])
    disk.fault = () => undefined
    await clock.advance(12_000)
    expect(segmentsIn(dir)).toHaveLength(1)
  })

  it('keeps a file that it cannot remove until the end, if it can then', () => {
    const { dir, disk, spool, logs } = setUpFailing()
    disk.fault = (call) => (call === 'unlinkSync info-000001.ndjson' ? 'EBUSY' : undefined)
    for (let number = 0; number < 2048; number++) logs.keep(`${number}`)
    spool.commit()
    for (const { ref } of logs.read('own')) logs.settle(ref)
    disk.fault = () => undefined
    spool.close()
    expect(readdirSync(dir)).toEqual([])
  })
})

describe('the folder of a lane that somebody removes', () => {
  it('costs only the records that were on disk alone, and the next ones are in another one', async () => {
    const dir = spoolFolder()
    const { clock, disk, spool, logs, said } = setUpLoneSpool(dir)
    logs.keep('error', { severity: 4 })
    logs.evict()
    const info = logs.keep('info')
    const value = logs.keep('value', { severity: 6 })
    spool.commit()
    rmSync(join(segmentsIn(dir).find((path) => path.includes('info'))!, '..'), { recursive: true })
    disk.calls.length = 0
    spool.look()
    expect(said).toEqual([expect.stringMatching(/its folder was removed/)])
    // Its open files are closed.
    expect(disk.calls.filter((call) => /^closeSync .*ndjson/.test(call))).toHaveLength(2)
    expect(logs.lost).toEqual([{ reason: 'spool-full', count: 1 }])
    expect([isOnDisk(info), isOnDisk(value)]).toEqual([false, true])
    expect(logs.ledger.read()).toMatchObject({ queued: 2, spooled: 0, dropped: { 'spool-full': 1 } })
    await clock.advance(1000)
    const next = logs.keep('next')
    spool.commit()
    expect(isOnDisk(next)).toBe(true)
    logs.evict()
    expect(isOnDisk(info)).toBe(true)
    expect(
      logs
        .read('own')
        .map(({ message }) => message)
        .sort(),
    ).toEqual(['info', 'next', 'value'])
  })

  it('is noticed with the next commit, more than a second after the last look', async () => {
    const dir = spoolFolder()
    const { clock, disk, spool, logs } = setUpLoneSpool(dir, { random: () => 0.99 })
    logs.keep('one')
    await clock.advance(500)
    spool.look()
    const signs = () => disk.calls.filter((call) => call.startsWith('utimesSync')).length
    spool.commit()
    spool.look()
    expect(signs()).toBe(1)
    await clock.advance(1000)
    spool.commit()
    expect(signs()).toBe(1)
    await clock.advance(1)
    spool.commit()
    expect(signs()).toBe(2)
  })
})

describe('a rejected record', () => {
  const reject = ({ spool, logs }: ReturnType<typeof setUpLoneSpool>) => {
    const ref = logs.keep('bad')
    spool.rejected(0, { ref, body: '{"message":"bad"}', key: 'key', rejection })
  }

  it('is a dead letter, with the reason, before it is settled', () => {
    const dir = spoolFolder()
    reject(setUpLoneSpool(dir))
    expect(linesIn(join(dir, 'dead-letter'))).toEqual([
      expect.objectContaining({
        idempotencyKey: 'key',
        body: '{"message":"bad"}',
        refusal: expect.objectContaining({ status: 400, reason: 'not valid' }),
      }),
    ])
  })

  it('needs a folder that no other user can write, which is said', () => {
    const dir = spoolFolder()
    mkdirSync(join(dir, 'dead-letter'))
    chmodSync(join(dir, 'dead-letter'), 0o777)
    const set = setUpLoneSpool(dir)
    reject(set)
    expect(set.said).toEqual([expect.stringMatching(/\(dead-letter is not a folder that only this user can write/)])
  })
})
