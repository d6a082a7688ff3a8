import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { isMainThread } from 'node:worker_threads'
import { describe, expect, it, onTestFinished } from 'vitest'
import { acknowledgementsOf } from '../../src/spool/acknowledgements.js'
import { addsUp } from '../support/delivery.js'
import { Disk } from '../support/disk.js'
import { answers } from '../support/scripted-sender.js'
import {
  closeBehindItsBack,
  leaveRecords,
  linesIn,
  pass,
  passUntil,
  segmentsIn,
  setUpSpool,
  spoolFolder,
} from '../support/spool.js'

const isRoot = process.geteuid?.() === 0
const down = () => answers.refused
const small = { delivery: { limits: { maxQueueRecords: 10, maxQueueBytes: 1_000_000 } } }

/** An engine whose service is down, with one record in the spool. The descriptor of its segment is closed. */
async function setUpClosedSegment() {
  const dir = spoolFolder()
  const set = setUpSpool(dir)
  set.sender.answer = down
  set.log('{"message":"first"}')
  await set.clock.advance(1)
  closeBehindItsBack(segmentsIn(dir)[0]!)
  return { dir, ...set }
}

describe('a file system that fails', () => {
  it('when it closes a file is reported and throws nothing, and the spool goes on with another file', async () => {
    const { dir, clock, sender, delivery, said, log } = await setUpClosedSegment()
    log('{"message":"second"}')
    await clock.advance(1)
    expect(said).toEqual([
      expect.stringMatching(/cannot be written \(EBADF/),
      expect.stringMatching(/a file could not be closed: .* may cost its last records \(EBADF/),
    ])
    await clock.advance(5000)
    log('{"message":"third"}')
    sender.answer = () => answers.delivered
    await clock.advance(60_000)
    expect(delivery.stats()).toMatchObject({ accepted: 3, delivered: 3 })
    await delivery.close({ timeoutMs: 0 })
    expect(readdirSync(dir)).toEqual([])
  })

  it('when it closes the last file throws nothing at the end', async () => {
    const { dir, clock, delivery, said } = await setUpClosedSegment()
    const closed = delivery.close({ timeoutMs: 0 })
    await clock.advance(1)
    expect(await closed).toMatchObject({ accepted: 1, spooled: 1 })
    expect(said).toEqual([expect.stringMatching(/could not be closed/)])
    expect(linesIn(dir)).toHaveLength(1)
  })

  it('when it writes acknowledgements is reported once, and throws nothing', async () => {
    const dir = spoolFolder()
    await leaveRecords(dir, 300)
    const { clock, delivery, said } = setUpSpool(dir)
    await passUntil(clock, 10_000, () => delivery.stats().adopted === 300)
    mkdirSync(acknowledgementsOf(segmentsIn(dir)[0]!))
    await passUntil(clock, 10_000, () => delivery.stats().delivered === 300)
    expect(said).toEqual([expect.stringMatching(/which records are delivered: .* again, with the same keys \(EISDIR/)])
    expect(addsUp(delivery.stats())).toBe(true)
  })

  it('when it removes a file is reported, and the next process does not send the delivered records again', async ({
    skip,
  }) => {
    const dir = spoolFolder()
    await leaveRecords(dir, 5)
    const { clock, sender, said, delivery } = setUpSpool(dir)
    await passUntil(clock, 10_000, () => delivery.stats().adopted === 5)
    const segment = segmentsIn(dir)[0]!
    skip(spawnSync('mount', ['--bind', segment, segment]).status !== 0, 'nothing can be mounted here')
    onTestFinished(() => void spawnSync('umount', ['--lazy', segment]))
    await passUntil(clock, 10_000, () => sender.sent.length === 5)
    await pass(clock, 1000)
    expect(said).toEqual([expect.stringMatching(/cannot be removed: it takes room .* \(EBUSY/)])
    await delivery.close({ timeoutMs: 0 })
    spawnSync('umount', [segment])
    const next = setUpSpool(dir)
    await pass(next.clock, 30_000)
    expect(next.sender.sent).toEqual([])
    expect(existsSync(segment)).toBe(false)
  })

  it.runIf(isRoot && isMainThread)(
    'when it reads records back loses none: they come back when it works again',
    async () => {
      const dir = spoolFolder()
      const { clock, sender, delivery, said, log } = setUpSpool(dir, small)
      sender.answer = down
      for (let number = 0; number < 50; number++) log(`{"message":"${number}"}`)
      await clock.advance(1)
      expect(delivery.stats().spooled).toBeGreaterThan(30)
      process.seteuid!(12_345)
      try {
        sender.answer = () => answers.delivered
        await clock.advance(60_000)
      } finally {
        process.seteuid!(0)
      }
      expect(said.join('\n')).toMatch(/cannot be read back: they stay on disk until they can \(EACCES/)
      expect(delivery.stats().dropped['spool-full']).toBe(0)
      expect(addsUp(delivery.stats())).toBe(true)
      log('{"message":"another"}')
      await clock.advance(60_000)
      expect(delivery.stats()).toMatchObject({ accepted: 51, delivered: 51, spooled: 0 })
      expect(said.filter((text) => /read back/.test(text))).toHaveLength(1)
    },
  )

  it('because it became read-only costs none of the records on it', async ({ skip }) => {
    const disk = new Disk()
    onTestFinished(() => disk.close())
    skip(!disk.mounted, 'no disk can be mounted here')
    await leaveRecords(disk.folder, 300)
    const { clock, sender, delivery, said } = setUpSpool(disk.folder, small)
    sender.answer = down
    await passUntil(clock, 10_000, () => delivery.stats().adopted === 300)
    disk.readOnly(true)
    await pass(clock, 60_000)
    expect(delivery.stats().dropped['spool-full']).toBe(0)
    expect(addsUp(delivery.stats())).toBe(true)
    expect(said.join('\n')).toMatch(/the lock cannot be renewed: .* \(EROFS/)
    disk.readOnly(false)
    sender.answer = () => answers.delivered
    await passUntil(clock, 600_000, () => delivery.stats().delivered === 300)
    await pass(clock, 1000)
    expect(segmentsIn(disk.folder)).toEqual([])
  })

  it('because it is full leaves no folders without an owner', async ({ skip }) => {
    const disk = new Disk()
    onTestFinished(() => disk.close())
    skip(!disk.mounted, 'no disk can be mounted here')
    mkdirSync(disk.folder)
    disk.fill()
    const { clock, log } = setUpSpool(disk.folder)
    for (let number = 0; number < 5; number++) {
      log(`{"message":"${number}"}`)
      await clock.advance(40_000)
    }
    expect(readdirSync(disk.folder)).toEqual([])
  })

  it('because a folder replaces a segment costs the records that were on disk only, and they are counted', async () => {
    const dir = spoolFolder()
    const { clock, sender, delivery, log } = setUpSpool(dir, small)
    sender.answer = down
    for (let number = 0; number < 50; number++) log(`{"message":"${number}"}`)
    await clock.advance(1)
    const { spooled } = delivery.stats()
    const segment = segmentsIn(dir)[0]!
    rmSync(segment)
    mkdirSync(segment)
    sender.answer = () => answers.delivered
    await clock.advance(60_000)
    expect(delivery.stats()).toMatchObject({ delivered: 50 - spooled, dropped: { 'spool-full': spooled } })
    expect(addsUp(delivery.stats())).toBe(true)
    rmdirSync(segment)
    expect(existsSync(dirname(segment))).toBe(true)
  })
})
