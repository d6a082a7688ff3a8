import { rmSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { answers } from '../support/scripted-sender.js'
import { closeBehindItsBack, filesIn, linesIn, passUntil, setUpSpool, spoolFolder } from '../support/spool.js'

/** A delivery with a spool whose service is down. */
function setUpKept(changes: Parameters<typeof setUpSpool>[1] = {}) {
  const dir = spoolFolder()
  const set = setUpSpool(dir, changes)
  set.sender.answer = () => answers.refused
  const ledger = () => set.delivery.book.copy()
  return {
    ...set,
    dir,
    /** Records of the logs lane that the ledger counts as kept. */
    kept: () => ledger().kept[0]!,
    /** Records that are on disk and in memory. */
    onDisk: () => linesIn(dir).length - ledger().ledger.spooled,
  }
}

describe('the count of records that are in memory and on disk', () => {
  it('goes down when a full spool gives up a segment whose records are in memory', async () => {
    const { clock, sender, delivery, log, kept, onDisk } = setUpKept({ spool: { maxBytes: 10_000 } })
    for (let number = 0; number < 60; number++) log(`{"message":"debug ${number}"}`, 1)
    await clock.advance(1)
    expect(kept()).toBe(60)
    for (let number = 0; number < 60; number++) {
      log(`{"message":"error ${number}"}`, 4)
      expect(kept()).toBeLessThanOrEqual(onDisk())
      await clock.advance(1)
      expect(kept()).toBe(onDisk())
    }
    const before = kept()
    expect(before).toBeLessThan(120)
    expect(delivery.stats()).toMatchObject({ queued: 120, spooled: 0 })
    // Records that were given up have left the count once: it does not go down again when they are delivered.
    sender.answer = (body) => (body.includes('debug') ? answers.delivered : answers.refused)
    await passUntil(clock, 600_000, () => delivery.stats().delivered > 0)
    sender.answer = () => answers.delivered
    await passUntil(clock, 600_000, () => delivery.stats().delivered === 120)
    expect(kept()).toBe(0)
    sender.answer = () => answers.refused
    for (let number = 0; number < 5; number++) log(`{"message":"later ${number}"}`)
    await clock.advance(1)
    expect(kept()).toBe(5)
  })

  it('does not count a record that could not be written, nor one that comes after', async () => {
    const { clock, dir, sender, delivery, log, kept, onDisk } = setUpKept()
    for (let number = 0; number < 3; number++) log(`{"message":"first ${number}"}`)
    await clock.advance(1)
    closeBehindItsBack(filesIn(dir).find((path) => path.endsWith('.ndjson'))!)
    for (let number = 0; number < 4; number++) log(`{"message":"second ${number}"}`)
    await clock.advance(1)
    log('{"message":"third"}')
    await clock.advance(1)
    expect(onDisk()).toBe(3)
    expect(kept()).toBeLessThanOrEqual(3)
    await clock.advance(5000)
    for (let number = 0; number < 2; number++) log(`{"message":"fourth ${number}"}`)
    await clock.advance(1)
    expect(onDisk()).toBe(5)
    expect(kept()).toBe(5)
    sender.answer = () => answers.delivered
    await clock.advance(60_000)
    expect(delivery.stats()).toMatchObject({ delivered: 10, queued: 0 })
    expect(kept()).toBe(0)
  })

  it('goes down when a record is rejected', async () => {
    const { clock, sender, log, kept } = setUpKept()
    log('{"message":"one"}')
    log('{"message":"two"}')
    await clock.advance(1)
    expect(kept()).toBe(2)
    sender.answer = (body) => (body.includes('one') ? answers.rejected : answers.delivered)
    await clock.advance(60_000)
    expect(kept()).toBe(0)
  })

  it('goes down when the folder of the spool is removed', async () => {
    const { clock, dir, log, kept } = setUpKept()
    for (let number = 0; number < 3; number++) log(`{"message":"first ${number}"}`)
    await clock.advance(1)
    expect(kept()).toBe(3)
    rmSync(dir, { recursive: true })
    await clock.advance(2000)
    log('{"message":"second"}')
    await clock.advance(1)
    expect(kept()).toBeLessThanOrEqual(1)
  })

  it('goes down when memory is full and records wait on disk alone, and up when they come back', async () => {
    const limits = { maxQueueRecords: 10, maxQueueBytes: 1_000_000 }
    const { clock, sender, delivery, log, kept, onDisk } = setUpKept({ delivery: { limits } })
    for (let number = 0; number < 50; number++) {
      log(`{"message":"${number}"}`)
      if (number % 7 > 0) continue
      await clock.advance(1)
      expect(kept()).toBe(onDisk())
    }
    expect(delivery.stats().spooled).toBeGreaterThan(30)
    const unsettledInMemory = () => delivery.stats().queued + delivery.stats().inFlight
    sender.answer = () => answers.delivered
    let most = 0
    while (delivery.stats().delivered < 50) {
      await clock.advance(1)
      most = Math.max(most, kept())
      expect(kept()).toBe(unsettledInMemory())
    }
    expect(most).toBeGreaterThan(1)
    expect(delivery.stats()).toMatchObject({ delivered: 50, spooled: 0 })
    expect(kept()).toBe(0)
  })
})
