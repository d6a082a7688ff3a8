import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { lineMiddle, spoolLine } from '../../src/spool/spool-line.js'
import { isOnDisk } from '../support/logs.js'
import { leave, setUpLoneSpool } from '../support/lone-spool.js'
import { filesIn, segmentsIn, spoolFolder } from '../support/spool.js'

const middle = lineMiddle({ kind: 'logs', bucket: 'b', severity: 2 })
const lineOf = (number: number, message: string) =>
  `${spoolLine({ number, idempotencyKey: `key-${number}`, time: 1_700_000_000_000, body: JSON.stringify({ message }) }, { middle })}\n`
const messages = (records: readonly { readonly message: string }[]) => records.map(({ message }) => message)

/** A dead engine has left these records. A look comes after a second. */
function setUpLeft(left: readonly string[] = ['one', 'two']) {
  const dir = spoolFolder()
  leave(dir, left)
  const file = segmentsIn(dir)[0]!
  return { dir, file, folder: dirname(file), ...setUpLoneSpool(dir) }
}

describe('the folder of a dead engine', () => {
  it('stays where it is, and this engine holds it until no record is in it', async () => {
    const { dir, folder, file, clock, logs } = setUpLeft()
    await clock.advance(1000)
    expect([segmentsIn(dir), readdirSync(folder).includes('lock-1')]).toEqual([[file], true])
    const read = logs.read('adopted')
    logs.settle(read[0]!.ref)
    await clock.advance(10_000)
    expect(readdirSync(folder).sort()).toEqual(['info-000001.acks', 'info-000001.ndjson', 'lock-1'])
    logs.settle(read[1]!.ref)
    await clock.advance(200)
    expect(readdirSync(folder)).toEqual(['lock-1'])
    await clock.advance(10_000)
    expect(readdirSync(dir)).toEqual([])
  })

  it('is left to the next engine at the end, with its acknowledgements', async () => {
    const { dir, clock, spool, logs } = setUpLeft()
    await clock.advance(1000)
    logs.settle(logs.read('adopted')[0]!.ref)
    spool.close()
    const next = setUpLoneSpool(dir)
    await next.clock.advance(1000)
    expect(messages(next.logs.read('adopted'))).toEqual(['two'])
  })

  it.each([
    ['a holder that can be seen and lives', {}, 100_000, 0],
    [
      'a holder that cannot be seen, until the seventh look without a sign of life',
      { namespace: 'pid:[1]' },
      60_500,
      0,
    ],
    ['no holder that cannot be seen, after that', { namespace: 'pid:[1]' }, 61_500, 1],
  ])('belongs to %s', async (_, changes, ms, adopted) => {
    const dir = spoolFolder()
    const living = setUpLoneSpool(dir)
    living.logs.keep('left')
    living.spool.commit()
    const lock = filesIn(dir).find((path) => path.endsWith('lock-1'))!
    writeFileSync(lock, JSON.stringify({ ...JSON.parse(readFileSync(lock, 'utf8')), ...changes }))
    const { clock, logs } = setUpLoneSpool(dir)
    await clock.advance(ms)
    expect(logs.ledger.read().adopted).toBe(adopted)
  })

  it('belongs to a holder that cannot be seen for as long as it gives signs of life', async () => {
    const dir = spoolFolder()
    const living = setUpLoneSpool(dir)
    living.logs.keep('left')
    living.spool.commit()
    const lock = filesIn(dir).find((path) => path.endsWith('lock-1'))!
    writeFileSync(lock, JSON.stringify({ ...JSON.parse(readFileSync(lock, 'utf8')), namespace: 'pid:[1]' }))
    const { clock, logs } = setUpLoneSpool(dir)
    for (let signs = 1; signs <= 5; signs++) {
      await clock.advance(50_000)
      utimesSync(lock, signs, signs)
    }
    expect(logs.ledger.read().adopted).toBe(0)
    await clock.advance(80_000)
    expect(logs.ledger.read().adopted).toBe(1)
  })

  it('is never its own, though it cannot see itself and can give no sign of life', async () => {
    const dir = spoolFolder()
    const { clock, disk, spool, logs } = setUpLoneSpool(dir)
    const ref = logs.keep('own')
    spool.commit()
    const lock = filesIn(dir).find((path) => path.endsWith('lock-1'))!
    writeFileSync(lock, JSON.stringify({ ...JSON.parse(readFileSync(lock, 'utf8')), namespace: 'pid:[1]' }))
    disk.fault = (call) => (call.startsWith('utimesSync') ? 'EIO' : undefined)
    await clock.advance(120_000)
    expect([isOnDisk(ref), logs.ledger.read().adopted]).toEqual([true, 0])
  })

  it('belongs to another engine that claims it a moment earlier', async () => {
    const { clock, disk, logs, said } = setUpLeft()
    disk.fault = (call) => (/^linkSync lock-/.test(call) ? 'EEXIST' : undefined)
    await clock.advance(3000)
    expect([logs.ledger.read().adopted, said]).toEqual([0, []])
  })

  it('is given up when another engine takes it, with the records that are there alone', async () => {
    const { folder, file, clock, logs } = setUpLeft()
    await clock.advance(1000)
    expect(logs.ledger.read()).toMatchObject({ adopted: 2, spooled: 2 })
    writeFileSync(join(folder, 'lock-2'), '{}')
    await clock.advance(10_000)
    expect(logs.ledger.read()).toMatchObject({ spooled: 0, dropped: { 'spool-full': 2 } })
    expect(readdirSync(folder)).toContain(file.slice(folder.length + 1))
  })

  it('is read no further when another engine has taken it while this one was frozen', async () => {
    const dir = spoolFolder()
    const first = setUpLoneSpool(dir)
    for (const severity of [1, 2, 3] as const) first.logs.keep(`left ${severity}`, { severity })
    first.spool.close()
    const folder = dirname(segmentsIn(dir)[0]!)
    const { clock, disk, logs } = setUpLoneSpool(dir)
    disk.fault = (call) => {
      if (!/^openSync .*ndjson/.test(call) || readdirSync(folder).includes('lock-2')) return undefined
      writeFileSync(join(folder, 'lock-2'), '{}')
      clock.block(10_000)
      return undefined
    }
    await clock.advance(30_000)
    expect(logs.ledger.read()).toMatchObject({ adopted: 1, dropped: { 'spool-full': 1 } })
  })

  it('is left alone, which is said, when another user could write there', async () => {
    const { folder, clock, logs, said } = setUpLeft()
    chmodSync(folder, 0o777)
    await clock.advance(30_000)
    expect(logs.ledger.read().adopted).toBe(0)
    expect(said).toEqual([expect.stringMatching(/was not made by Sluice and is left alone .*only this user can write/)])
  })

  it('keeps what is no file of records of this lane', async () => {
    const { folder, clock, logs, said } = setUpLeft()
    mkdirSync(join(folder, 'warn-000009.ndjson'))
    for (const name of ['notes.ndjson', 'value-000008.ndjson']) writeFileSync(join(folder, name), lineOf(0, 'foreign'))
    await clock.advance(1000)
    const read = logs.read('adopted')
    expect(messages(read)).toEqual(['one', 'two'])
    for (const { ref } of read) logs.settle(ref)
    await clock.advance(20_000)
    expect(
      readdirSync(folder)
        .filter((name) => name.endsWith('.ndjson'))
        .sort(),
    ).toEqual(['notes.ndjson', 'value-000008.ndjson', 'warn-000009.ndjson'])
    expect(said).toEqual([expect.stringMatching(/was not made by Sluice and is left alone .*is a folder, not a file/)])
  })

  it('is removed when nothing was left in it', async () => {
    const { dir, file, clock, said } = setUpLeft()
    rmSync(file)
    await clock.advance(1000)
    expect([readdirSync(dir), said]).toEqual([[], []])
  })
})

describe('a file that its engine goes on writing, because it was not dead', () => {
  it('is read again when its records are settled: the new ones come, and no other twice', async () => {
    const { file, dir, clock, logs } = setUpLeft()
    await clock.advance(1000)
    const read = logs.read('adopted')
    appendFileSync(file, lineOf(2, 'three'))
    for (const { ref } of read) logs.settle(ref)
    await clock.advance(10_000)
    const again = logs.read('adopted')
    expect(messages(again)).toEqual(['three'])
    for (const { ref } of again) logs.settle(ref)
    await clock.advance(10_000)
    expect([logs.read('adopted'), readdirSync(dir)]).toEqual([[], []])
    expect(logs.ledger.read()).toMatchObject({ adopted: 3, delivered: 3 })
  })

  it('has a new file beside it, which is found', async () => {
    const { folder, clock, logs } = setUpLeft()
    await clock.advance(1000)
    writeFileSync(join(folder, 'info-000002.ndjson'), lineOf(0, 'three'))
    await clock.advance(10_000)
    expect(messages(logs.read('adopted'))).toEqual(['one', 'two', 'three'])
  })
})

describe('lines with a right checksum that no spool writes', () => {
  it('are no records, and their number is told', async () => {
    const { file, clock, logs, said } = setUpLeft()
    appendFileSync(file, lineOf(7, 'foreign').replace('"n":7', '"n":8'))
    appendFileSync(file, lineOf(2, 'three').replace('three', 'four').replace('crc', 'crC'))
    await clock.advance(1000)
    expect(messages(logs.read('adopted'))).toEqual(['one', 'two'])
    expect(said).toEqual([expect.stringMatching(/lost 2 damaged lines of info-000001\.ndjson/)])
  })

  it('are lost when they appear after the file was read, whatever is in the key', async () => {
    const { file, clock, logs } = setUpLeft(['one'])
    await clock.advance(1000)
    const own = readFileSync(file, 'utf8')
    const key = /"key":"([^"]+)"/.exec(own)![1]!
    for (const hostile of ['\r\n', '\\"', '\\', '"']) {
      const idempotencyKey = hostile + 'x'.repeat(key.length - hostile.length)
      const [time, body] = [1_700_000_000_000, '{"message":"one"}']
      writeFileSync(file, `${spoolLine({ number: 0, idempotencyKey, time, body }, { middle })}\n`)
      const read = logs.read('adopted')
      for (const { key: each, ref } of read) {
        expect(each).toMatch(/^[\x21-\x7e]+$/)
        logs.fail(ref)
      }
    }
    expect(logs.read('adopted')).toEqual([])
    expect(logs.ledger.read()).toMatchObject({ dropped: { 'spool-full': 1 } })
  })
})

describe('what a dead engine has left, on a disk that fails,', () => {
  it('comes later when the folder of the spool cannot be read, which is said once', async () => {
    const dir = spoolFolder()
    leave(dir, ['one'])
    const { clock, disk, logs, said } = setUpLoneSpool(dir)
    disk.fault = (call) => (call === `readdirSync ${basename(dir)}` ? 'EIO' : undefined)
    await clock.advance(22_000)
    expect(said).toEqual([expect.stringMatching(/records of other processes cannot be taken over: .* \(EIO/)])
    disk.fault = () => undefined
    await clock.advance(10_000)
    expect(logs.read('adopted')).toHaveLength(1)
  })

  it.each(['readdirSync', 'openSync'])('comes later when %s fails, which is said once', async (operation) => {
    const dir = spoolFolder()
    leave(dir, ['one', 'two'])
    const folder = readdirSync(dir)[0]!
    const { clock, disk, logs, said } = setUpLoneSpool(dir)
    const failing = `${operation} ${operation === 'openSync' ? 'info-000001.ndjson' : folder}`
    disk.fault = (call) => (call === failing ? 'EIO' : undefined)
    await clock.advance(22_000)
    expect(said).toEqual([expect.stringMatching(/records of other processes cannot be taken over: .* \(EIO/)])
    disk.fault = () => undefined
    await clock.advance(10_000)
    expect(logs.read('adopted').map(({ message }) => message)).toEqual(['one', 'two'])
  })

  it('comes from each of its files, when one of them cannot be looked at', async () => {
    const dir = spoolFolder()
    const first = setUpLoneSpool(dir)
    for (const severity of [1, 2, 3] as const) first.logs.keep(`left ${severity}`, { severity })
    first.spool.close()
    for (const number of [1, 2, 3]) {
      const { clock, disk, logs, spool, said } = setUpLoneSpool(dir)
      const failing = new RegExp(`^lstatSync .*-00000${number}\\.ndjson`)
      disk.fault = (call) => (failing.test(call) ? 'EIO' : undefined)
      await clock.advance(2000)
      expect(logs.ledger.read().adopted).toBe(2)
      disk.fault = () => undefined
      await clock.advance(10_000)
      expect(logs.ledger.read().adopted).toBe(3)
      expect(said).toEqual([expect.stringMatching(/cannot be taken over: .* \(EIO/)])
      spool.close()
    }
  })

  it('is read no more when the file is gone', async () => {
    const dir = spoolFolder()
    leave(dir, ['one'])
    const { clock, disk, logs, said } = setUpLoneSpool(dir)
    disk.fault = (call) => (call === 'openSync info-000001.ndjson' ? 'ENOENT' : undefined)
    await clock.advance(3000)
    expect([logs.read('adopted'), said]).toEqual([[], []])
  })

  it('stays for the next one when the spool is closed before it is read', async () => {
    const dir = spoolFolder()
    leave(dir, ['one', 'two'])
    const { clock, spool, logs } = setUpLoneSpool(dir)
    clock.schedule(() => spool.close(), 1000)
    await clock.advance(30_000)
    expect(logs.ledger.read().adopted).toBe(0)
    expect(clock.timers).toBe(0)
    const next = setUpLoneSpool(dir)
    await next.clock.advance(2000)
    expect(next.logs.read('adopted')).toHaveLength(2)
  })
})
