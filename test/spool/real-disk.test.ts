import { existsSync, readdirSync } from 'node:fs'
import { describe, expect, it, onTestFinished, type TestContext } from 'vitest'
import { addsUp } from '../support/delivery.js'
import { Disk } from '../support/disk.js'
import { answers } from '../support/scripted-sender.js'
import { leaveRecords, passUntil, segmentsIn, setUpSpool } from '../support/spool.js'

const small = { delivery: { limits: { maxQueueRecords: 10, maxQueueBytes: 1_000_000 } } }

/** A small disk of its own, where one can be mounted. */
function mounted(skip: TestContext['skip']): Disk {
  const disk = new Disk()
  onTestFinished(() => disk.close())
  skip(!disk.mounted, 'no disk can be mounted here')
  return disk
}

describe('a disk that became read-only', () => {
  it('costs none of the records on it', async ({ skip }) => {
    const disk = mounted(skip)
    await leaveRecords(disk.folder, 300)
    const { clock, sender, delivery, said } = setUpSpool(disk.folder, small)
    sender.answer = () => answers.refused
    await passUntil(clock, 10_000, () => delivery.stats().adopted === 300)
    disk.readOnly(true)
    await clock.advance(60_000)
    expect(delivery.stats().dropped['spool-full']).toBe(0)
    expect(addsUp(delivery.stats())).toBe(true)
    expect(said.join('\n')).toMatch(/the lock cannot be renewed: .* \(EROFS/)
    disk.readOnly(false)
    sender.answer = () => answers.delivered
    await passUntil(clock, 600_000, () => delivery.stats().delivered === 300)
    expect(segmentsIn(disk.folder)).toEqual([])
  })
})

describe('a full disk', () => {
  it('has no folders without an owner, and gets the records when there is room', async ({ skip }) => {
    const disk = mounted(skip)
    disk.fill()
    const { clock, sender, delivery, said, log, end } = setUpSpool(disk.folder)
    sender.answer = () => answers.refused
    for (let number = 0; number < 5; number++) {
      log(`{"message":"${number}"}`)
      await clock.advance(40_000)
    }
    expect(existsSync(disk.folder) ? readdirSync(disk.folder) : []).toEqual([])
    expect(delivery.stats()).toMatchObject({ accepted: 5, spooled: 0 })
    expect(said).toEqual([expect.stringMatching(/cannot be written \(ENOSPC/)])
    disk.free()
    expect(await end()).toMatchObject({ spooled: 5, queued: 0 })
  })
})
