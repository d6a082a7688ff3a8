import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isMainThread } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import { acknowledgementsOf } from '../../src/spool/acknowledgements.js'
import { isOnDisk } from '../support/logs.js'
import { leave, setUpLoneSpool } from '../support/lone-spool.js'
import { filesIn, linesIn, segmentsIn, spoolFolder } from '../support/spool.js'

describe('a record', () => {
  it('is on disk after a commit, with its key, in a folder of its lane and a file of its severity', () => {
    const dir = spoolFolder()
    const { spool, logs, keys } = setUpLoneSpool(dir)
    logs.keep('info')
    logs.keep('error', { severity: 4 })
    logs.keep('value', { severity: 6, key: 'own"key' })
    expect(segmentsIn(dir)).toEqual([])
    spool.commit()
    const files = segmentsIn(dir).map((path) => path.split('/').slice(-2))
    expect(new Set(files.map(([folder]) => folder)).size).toBe(2)
    expect(files.map(([, name]) => name).sort()).toEqual([
      'error-000002.ndjson',
      'info-000001.ndjson',
      'value-000001.ndjson',
    ])
    const lines = linesIn(dir).sort((a, b) => a.severity - b.severity)
    expect(lines.map(({ body }) => JSON.parse(body).message)).toEqual(['info', 'error', 'value'])
    expect(lines.map(({ idempotencyKey }) => idempotencyKey)).toEqual([keys.textOf(0), keys.textOf(1), 'own"key'])
    expect(lines[0]!.time).toBe(1_700_000_000_000)
  })

  it('comes back from the disk as it was when it has left memory', () => {
    const { logs } = setUpLoneSpool(spoolFolder())
    const messages = ['one', 'zwei 🚰', '"three"', '']
    for (const message of messages) logs.keep(message)
    logs.keep('value', { severity: 6, key: 'own\\key' })
    logs.evict()
    expect(logs.ledger.read()).toMatchObject({ spooled: 5, queued: 0, heldBytes: 0 })
    const read = logs.read('own')
    expect(read.map(({ message }) => message)).toEqual([...messages, 'value'])
    expect(read.at(-1)!.key).toBe('own\\key')
  })

  it('is not written when it was settled before the commit', () => {
    const dir = spoolFolder()
    const { spool, logs } = setUpLoneSpool(dir)
    logs.settle(logs.keep('settled'))
    logs.keep('kept')
    logs.settle(logs.keep('settled, too'))
    spool.commit()
    expect(linesIn(dir).map(({ number, body }) => [number, JSON.parse(body).message])).toEqual([[1, 'kept']])
  })

  it('is acknowledged a tenth of a second after it was settled, in ranges', async () => {
    const dir = spoolFolder()
    const { clock, spool, logs } = setUpLoneSpool(dir)
    const refs = ['0', '1', '2', '3', '4', '5'].map((text) => logs.keep(text))
    spool.commit()
    for (const index of [4, 0, 1, 2]) logs.settle(refs[index]!)
    const acks = acknowledgementsOf(segmentsIn(dir)[0]!)
    await clock.advance(99)
    expect(readdirSync(dir, { recursive: true }).filter((name) => String(name).endsWith('.acks'))).toEqual([])
    await clock.advance(1)
    expect(readFileSync(acks, 'utf8')).toContain('"settled":"0-2,4"')
  })

  it('does not stay on disk for long when it was settled and no other comes', async () => {
    const dir = spoolFolder()
    const { clock, spool, logs } = setUpLoneSpool(dir)
    const refs = ['0', '1'].map((text) => logs.keep(text))
    const error = logs.keep('error', { severity: 4 })
    spool.commit()
    for (const ref of refs) logs.settle(ref)
    await clock.advance(11_000)
    expect(
      filesIn(dir)
        .map((path) => basename(path))
        .sort(),
    ).toEqual(['error-000002.ndjson', 'lock-1'])
    logs.settle(error)
    logs.keep('next')
    spool.commit()
    await clock.advance(1001)
    logs.keep('one more')
    spool.commit()
    expect(linesIn(dir).map(({ body }) => body)).toEqual(['{"message":"next"}', '{"message":"one more"}'])
  })

  it('costs its file when it was the last one there', () => {
    const dir = spoolFolder()
    const { spool, logs } = setUpLoneSpool(dir)
    const refs = ['0', '1'].map((text) => logs.keep(text))
    spool.commit()
    for (const ref of refs) logs.settle(ref)
    spool.close()
    expect(readdirSync(dir)).toEqual([])
  })

  it('counts as kept while it is in memory and on disk', () => {
    const { spool, logs } = setUpLoneSpool(spoolFolder())
    const ref = logs.keep('one')
    logs.keep('two')
    expect(logs.ledger.copy().onDisk[0]).toBe(0)
    spool.commit()
    expect(logs.ledger.copy().onDisk[0]).toBe(2)
    logs.settle(ref)
    expect(logs.ledger.copy().onDisk[0]).toBe(1)
    logs.evict()
    expect(logs.ledger.copy().onDisk[0]).toBe(0)
  })
})

describe('a full memory', () => {
  it('leaves records to the disk, without a loss, and they come back in their order', () => {
    const { logs } = setUpLoneSpool(spoolFolder(), { maxQueueBytes: 4000 })
    const messages = Array.from({ length: 300 }, (_, index) => `record ${index}`)
    for (const message of messages) logs.keep(message)
    expect(logs.ledger.read()).toMatchObject({ accepted: 300 })
    expect(logs.ledger.read().spooled).toBeGreaterThan(100)
    const found: string[] = []
    while (logs.ledger.read().delivered < 300) {
      const read = logs.read('own', 20)
      found.push(...read.map(({ message }) => message))
      for (const { ref } of read) logs.settle(ref)
    }
    expect(found).toEqual(messages)
    expect(logs.lost).toEqual([])
  })
})

describe('the next engine', () => {
  it('gets what was left, with the same keys, and leaves no file when all is settled', async () => {
    const dir = spoolFolder()
    const first = setUpLoneSpool(dir)
    for (const message of ['one', 'two', 'three']) first.logs.keep(message)
    const value = first.logs.keep('value', { severity: 6, key: 'own' })
    first.logs.keep('value two', { severity: 6, key: 'own 2'.replace(' ', '-') })
    first.spool.commit()
    first.logs.settle(value)
    first.spool.close()
    const { clock, spool, logs } = setUpLoneSpool(dir)
    await clock.advance(2000)
    expect(logs.ledger.read()).toMatchObject({ accepted: 4, adopted: 4, spooled: 4 })
    expect(logs.adoptions.sort()).toEqual([0, 1])
    const read = logs.read('adopted')
    expect(read.map(({ message }) => message).sort()).toEqual(['one', 'three', 'two', 'value two'])
    expect(read.map(({ key }) => key).sort()).toEqual(
      ['own-2', ...[0, 1, 2].map((each) => first.keys.textOf(each))].sort(),
    )
    for (const { ref } of read) logs.settle(ref)
    expect(segmentsIn(dir)).toEqual([])
    await clock.advance(10_000)
    expect(readdirSync(dir)).toEqual([])
    spool.close()
    expect(clock.timers).toBe(0)
  })

  it('has the oldest first of several engines', async () => {
    const dir = spoolFolder()
    const wall = (from: number) => () => 1_700_000_000_000 + from
    leave(dir, ['late 1', 'late 2'], { wallClock: wall(5000) })
    leave(dir, ['early'], { wallClock: wall(0) })
    const { clock, logs } = setUpLoneSpool(dir, { wallClock: wall(9000) })
    await clock.advance(2000)
    const log = logs.adoptedLog(0, 2)
    const sequences = [...log.segments()].map((segment) => segment.base)
    expect(sequences).toEqual([...sequences].sort((a, b) => a - b))
    expect(logs.read('adopted')).toHaveLength(3)
  })

  it('takes nothing of another lane, of another service, or of an engine that lives', async () => {
    const dir = spoolFolder()
    leave(dir, ['other service'], { url: 'http://other/' })
    leave(dir, ['other bucket'], {
      lanes: [
        { kind: 'logs', bucket: 'c' },
        { kind: 'values', bucket: 'c' },
      ],
    })
    const living = setUpLoneSpool(dir)
    living.logs.keep('alive')
    living.spool.commit()
    const { clock, logs, said } = setUpLoneSpool(dir)
    await clock.advance(120_000)
    expect([logs.read('adopted'), said]).toEqual([[], []])
    expect(segmentsIn(dir)).toHaveLength(3)
  })
})

describe('the end of a spool', () => {
  it('happens once, and leaves no folder where there was nothing to keep', async () => {
    const dir = spoolFolder()
    const { clock, disk, spool } = setUpLoneSpool(dir)
    spool.close()
    disk.calls.length = 0
    spool.close()
    spool.look()
    await clock.advance(30_000)
    expect(disk.calls).toEqual([])
    expect(clock.timers).toBe(0)
  })

  it('is the end of writing: later records are in memory alone', () => {
    const dir = spoolFolder()
    const { disk, spool, logs } = setUpLoneSpool(dir)
    const ref = logs.keep('one')
    spool.close()
    disk.calls.length = 0
    const later = logs.keep('two')
    const other = logs.keep('three', { severity: 4 })
    spool.commit()
    logs.settle(ref)
    spool.look()
    expect([isOnDisk(later), isOnDisk(other), spool.takes]).toEqual([false, false, false])
    expect(disk.calls).toEqual([])
  })

  it('writes what was not written, and removes what is settled', () => {
    const dir = spoolFolder()
    const { spool, logs } = setUpLoneSpool(dir)
    logs.settle(logs.keep('debug', { severity: 1 }))
    const ref = logs.keep('info')
    spool.close()
    expect(isOnDisk(ref)).toBe(true)
    expect(linesIn(dir).map(({ body }) => body)).toEqual(['{"message":"info"}'])
    expect(segmentsIn(dir)).toHaveLength(1)
  })
})

describe('what a spool writes', () => {
  it.runIf(isMainThread)('can be read only by its owner, whatever the umask', async () => {
    const dir = join(spoolFolder(), 'made', 'here')
    const before = process.umask(0)
    try {
      const { clock, spool, logs } = setUpLoneSpool(dir)
      const [settled, refused] = ['settled', 'refused', 'left'].map((message) => logs.keep(message))
      spool.commit()
      logs.settle(settled!)
      const rejection = { type: 'rejected', status: 400, reason: 'not valid', validationErrors: [] } as const
      spool.rejected(0, { ref: refused!, body: '{}', key: 'key', rejection })
      await clock.advance(200)
      const modes = (paths: string[]) => paths.map((path) => (statSync(path).mode & 0o777).toString(8))
      const files = filesIn(dir)
      expect(files).toHaveLength(4)
      expect(new Set(modes(files))).toEqual(new Set(['600']))
      expect(new Set(modes([dir, ...files.map((path) => dirname(path))]))).toEqual(new Set(['700']))
    } finally {
      process.umask(before)
    }
  })
})
