import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Severity } from '../../src/records/level.js'
import { OpenSegments, SegmentWriter } from '../../src/spool/open-segments.js'
import { segmentsIn, spoolFolder } from '../support/spool.js'
import { VirtualClock } from '../support/virtual-clock.js'
import { WatchedFiles } from '../support/watched-files.js'

function setUpWriter(lines: readonly string[] = []) {
  const folder = join(spoolFolder(), 'folder')
  mkdirSync(folder)
  const path = join(folder, 'file')
  const disk = new WatchedFiles()
  const writer = new SegmentWriter(path, disk.files)
  disk.calls.length = 0
  for (const line of lines) writer.add(line)
  return { disk, writer, text: () => readFileSync(path, 'utf8') }
}

/** The disk takes so many bytes more, then it is full. */
function fillUp(disk: WatchedFiles, bytes: number): void {
  let left = bytes
  disk.taken = (wanted) => {
    const taken = Math.min(wanted, left)
    left -= taken
    if (left === 0) disk.fault = (call) => (call.startsWith('writeSync') ? 'ENOSPC' : undefined)
    return taken
  }
}

describe('the writer of a segment', () => {
  it('writes the gathered lines in one go, and each line once', () => {
    const { disk, writer, text } = setUpWriter(['one', 'two'])
    expect(writer.pending).toBe(6)
    expect(writer.commit({ sync: false })).toMatchObject({ lines: 2, error: undefined })
    expect(disk.calls).toEqual(['writeSync file'])
    expect(writer.pending).toBe(0)
    writer.add('three')
    expect(writer.commit({ sync: false })).toMatchObject({ lines: 1, error: undefined })
    expect(text()).toBe('one\ntwo\nthree\n')
  })

  it('writes nothing when no line was gathered', () => {
    const { disk, writer } = setUpWriter()
    expect(writer.commit({ sync: true })).toEqual({ lines: 0 })
    expect(disk.calls).toEqual([])
  })

  it('waits for the disk after each write, and for the folder after the first', () => {
    const { disk, writer } = setUpWriter(['one'])
    writer.commit({ sync: true })
    const folder = ['openSync folder', 'fsyncSync folder', 'closeSync folder']
    expect(disk.calls).toEqual(['writeSync file', 'fdatasyncSync file', ...folder])
    writer.add('two')
    disk.calls.length = 0
    writer.commit({ sync: true })
    expect(disk.calls).toEqual(['writeSync file', 'fdatasyncSync file'])
  })

  it('has written its lines when it cannot wait for the disk, and says why', () => {
    const { disk, writer } = setUpWriter(['one', 'two'])
    disk.fault = (call) => (call.startsWith('fdatasyncSync') ? 'EIO' : undefined)
    expect(writer.commit({ sync: true })).toMatchObject({ lines: 2, error: { code: 'EIO' } })
  })

  it('says why it could not write, rather than why it cannot wait', () => {
    const { disk, writer } = setUpWriter(['one'])
    disk.fault = (call) => (call.startsWith('writeSync') ? 'ENOSPC' : 'EIO')
    expect(writer.commit({ sync: true })).toMatchObject({ lines: 0, error: { code: 'ENOSPC' } })
  })

  it('cuts off a line of which only a part was written', () => {
    const { disk, writer, text } = setUpWriter(['one'])
    writer.commit({ sync: false })
    for (const line of ['two', 'three', 'four']) writer.add(line)
    fillUp(disk, 'two\nthree\nfo'.length)
    expect(writer.commit({ sync: false })).toMatchObject({ lines: 2, error: { code: 'ENOSPC' } })
    expect(text()).toBe('one\ntwo\nthree\n')
  })

  it('counts only whole lines when it cannot cut off the rest', () => {
    const { disk, writer, text } = setUpWriter(['one', 'two'])
    disk.taken = () => 'one\nt'.length
    disk.fault = () => (disk.calls.length > 1 ? 'EIO' : undefined)
    expect(writer.commit({ sync: false })).toMatchObject({ lines: 1, error: { code: 'EIO' } })
    expect(text()).toBe('one\nt')
  })

  it('gives up when the file system takes no bytes', () => {
    const { disk, writer } = setUpWriter(['one'])
    disk.taken = () => 0
    expect(writer.commit({ sync: false })).toMatchObject({
      lines: 0,
      error: { message: 'the file system takes no bytes' },
    })
  })
})

/** Open segments of a thousand bytes and a second. */
async function setUpOpen() {
  const dir = spoolFolder()
  const clock = new VirtualClock()
  await clock.advance(1000)
  const sealed: string[] = []
  let number = 0
  const open = new OpenSegments({
    lanes: [{ kind: 'logs', bucket: 'b' }],
    segmentBytes: 1000,
    maxOpenMs: 1000,
    sync: false,
    clock,
    wallClock: () => 1_700_000_000_000,
    files: new WatchedFiles().files,
    pathFor: (_lane, severity) => join(dir, `${severity}-${++number}.ndjson`),
    opened: () => {},
    sealed: ({ path }) => sealed.push(path),
  })
  const add = (severity: Severity, bytes = 2) => {
    const body = 'x'.repeat(bytes)
    return open.add(0, { body, bytes, severity, idempotencyKey: 'key' })
  }
  return { dir, clock, open, add, sealed }
}

describe('a segment to which lines are added', () => {
  it('is followed by another one when it has all its bytes', async () => {
    const { open, add } = await setUpOpen()
    expect(open.isDue(0, 2)).toBe(false)
    const { segment } = add(2)
    // The next line, with its line end, takes all of the rest but one byte.
    add(2, 1000 - 1 - segment.bytes - (segment.bytes - 2))
    expect(segment.bytes).toBe(999)
    expect([open.isDue(0, 2), open.isDue(0, 1)]).toEqual([false, false])
    open.sealAll()
    const rest = add(2, 2).segment
    add(2, 1000 - rest.bytes - (rest.bytes - 2))
    expect(rest.bytes).toBe(1000)
    expect([open.isDue(0, 2), open.isDue(0, 1)]).toEqual([true, false])
  })

  it('is followed by another one when it was open for longer than allowed', async () => {
    const { clock, open, add } = await setUpOpen()
    add(2)
    await clock.advance(1000)
    expect(open.isDue(0, 2)).toBe(false)
    await clock.advance(1)
    expect(open.isDue(0, 2)).toBe(true)
  })

  it('tells how much of it is written', async () => {
    const { open, add } = await setUpOpen()
    const { segment } = add(2)
    const bytes = open.pending
    expect(bytes).toBe(segment.bytes - 1)
    const other = add(3).segment
    expect(open.pending).toBe(2 * bytes)
    const written = (of: object, committed: number) => ({ segment: of, committed, error: undefined })
    expect(open.commit()).toEqual([written(segment, 1), written(other, 1)])
    expect(open.pending).toBe(0)
    add(2)
    add(2)
    expect(open.commit()).toEqual([written(segment, 3)])
  })

  it('is sealed alone, or with all others', async () => {
    const { dir, open, add, sealed } = await setUpOpen()
    const [two, three] = [add(2), add(3)].map(({ segment }) => segment)
    open.sealAll({ lane: 0, severity: 2 })
    expect(sealed).toEqual([two!.path])
    expect(add(3).segment).toBe(three)
    expect(add(2).segment).not.toBe(two)
    open.sealAll()
    expect(sealed.sort()).toEqual(segmentsIn(dir).sort())
  })
})
