import { describe, expect, it } from 'vitest'
import { droppedTotal } from '../../src/delivery/ledger.js'
import type { Severity } from '../../src/records/level.js'
import { addsUp, setUp } from '../support/delivery.js'
import { MemoryStore } from '../support/memory-store.js'
import { silentObserver } from '../support/observer.js'
import { answers } from '../support/scripted-sender.js'

/** A store that counts what it is asked, and can be made to have lost its records or to give none back. */
class WatchedStore extends MemoryStore {
  parks = 0
  unparks = 0
  lostAll = false
  silent = false

  override park(place: object): boolean {
    this.parks++
    return !this.lostAll && super.park(place)
  }

  override unpark(...room: Parameters<MemoryStore['unpark']>): ReturnType<MemoryStore['unpark']> {
    this.unparks++
    return this.silent ? [] : super.unpark(...room)
  }
}

/** A delivery with a store, and room for eight records in memory. */
function setUpStore() {
  const store = new WatchedStore()
  const set = setUp({ store, limits: { maxQueueRecords: 8, maxQueueBytes: 1000 } })
  const { delivery, log, value } = set
  const logs = (count: number, severity?: Severity) => {
    for (let number = 0; number < count; number++) log(`log ${number}`, severity)
  }
  const values = (count: number) => {
    for (let number = 0; number < count; number++) value(`value ${number}`)
  }
  /** Records in memory and in the store alone, of the lane for logs and of that for values. */
  const places = () => delivery.stats().lanes.map(({ queued, spooled }) => [queued, spooled])
  /** Records that are in the store alone. */
  const parked = (count: number) => {
    logs(count)
    delivery.park()
  }
  return { ...set, buffer: delivery.buffer, store, logs, values, places, parked }
}

describe('a full memory', () => {
  /** Neither lane may send; the logs have failed, and wait. */
  async function blocked(count: number) {
    const set = setUpStore()
    set.sender.answer = () => answers.refused
    set.logs(count)
    await set.clock.advance(1)
    return set
  }

  it('leaves a lane that may not send one record to test the service with, and parks the others', async () => {
    const { values, places, delivery } = await blocked(4)
    values(4)
    expect(places()).toEqual([
      [4, 0],
      [4, 0],
    ])
    values(1)
    expect(places()).toEqual([
      [1, 3],
      [5, 0],
    ])
    expect(addsUp(delivery.stats())).toBe(true)
  })

  it('keeps the one record among those that have not failed, where there are some', async () => {
    const { clock, sender, delivery, logs, values, places } = setUpStore()
    sender.answer = () => answers.failed
    logs(3)
    await clock.advance(60_000)
    logs(3)
    values(3)
    expect(places()[0]).toEqual([1, 5])
    expect(delivery.stats().dropped['queue-full']).toBe(0)
  })

  it('keeps one of the records that failed where there are no others', async () => {
    const { clock, sender, logs, values, places } = setUpStore()
    sender.answer = () => answers.failed
    logs(4)
    await clock.advance(60_000)
    values(5)
    expect(places()[0]).toEqual([1, 3])
  })

  it('parks the waiting records each time that it fills', async () => {
    const { logs, values, places } = await blocked(4)
    values(5)
    logs(3)
    expect(places()).toEqual([
      [2, 5],
      [5, 0],
    ])
  })

  it('parks no more than it must of a lane that may send', () => {
    const { logs, values, places } = setUpStore()
    logs(8)
    values(1)
    expect(places()).toEqual([
      [7, 1],
      [1, 0],
    ])
  })

  it('looks again only after ten thousand newcomers when no record could be parked', async () => {
    const { store, logs } = await blocked(8)
    store.lostAll = true
    /** How often the store is asked to park a record while so many come. */
    const parksDuring = (newcomers: number) => {
      const before = store.parks
      logs(newcomers)
      return store.parks - before
    }
    const whole = parksDuring(1)
    const single = parksDuring(1)
    expect(whole).toBeGreaterThanOrEqual(single + 7)
    expect(parksDuring(9999)).toBe(9999 * single)
    expect(parksDuring(1)).toBe(whole)
  })

  it('gives a record to the store that had no place there when it came', () => {
    const { store, delivery, log, logs } = setUpStore()
    store.broken = true
    log('early', 0)
    logs(7)
    store.broken = false
    logs(1)
    expect(delivery.stats()).toMatchObject({ queued: 8, spooled: 1 })
    expect(droppedTotal(delivery.stats())).toBe(0)
    expect(store.kept.filter(({ state }) => state === 'parked').map(({ body }) => body)).toEqual(['early'])
  })
})

describe('parked records', () => {
  it('do not come back while records of their lane wait and memory is not nearly empty', () => {
    const { buffer, logs, places, parked } = setUpStore()
    parked(4)
    logs(4)
    buffer.refill()
    expect(places()[0]).toEqual([4, 4])
  })

  it('come back until half of memory is taken, once three quarters are free', () => {
    const { buffer, logs, places, parked } = setUpStore()
    parked(6)
    logs(2)
    buffer.refill()
    expect(places()[0]).toEqual([4, 4])
  })

  it('come back one at a time where others fill the memory', () => {
    const { buffer, values, places, parked } = setUpStore()
    parked(4)
    values(4)
    buffer.refill()
    expect(places()).toEqual([
      [1, 3],
      [4, 0],
    ])
  })

  it('are not asked for while there is no room', () => {
    const { buffer, store, values, places, parked } = setUpStore()
    parked(4)
    values(8)
    const before = store.unparks
    buffer.refill()
    expect(store.unparks).toBe(before)
    expect(places()[0]).toEqual([0, 4])
  })

  it('set nothing in motion while the store gives none back', () => {
    const { clock, buffer, delivery, store, places, parked } = setUpStore()
    parked(4)
    store.silent = true
    delivery.calm(100)
    buffer.refill()
    expect(store.unparks).toBe(1)
    expect(places()[0]).toEqual([0, 4])
    expect(clock.timers).toBe(0)
  })

  it('leave the keys of the records that come after them unique', () => {
    const { buffer, store, logs, parked } = setUpStore()
    parked(3)
    buffer.refill()
    logs(4)
    expect(new Set(store.kept.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(7)
  })
})

describe('records that the store has lost', () => {
  it('are dropped for its reason, and no drain waits for them', async () => {
    const { clock, buffer, delivery, told, store, parked } = setUpStore()
    parked(3)
    store.silent = true
    let ended = false
    void delivery.flush({ timeoutMs: 5000 }).then(() => {
      ended = true
    })
    buffer.lost(0, { count: 2, reason: 'spool-full', adopted: false })
    await clock.advance(0)
    expect(ended).toBe(false)
    buffer.lost(0, { count: 1, reason: 'too-old', adopted: false })
    await clock.advance(0)
    expect(ended).toBe(true)
    expect(told).toEqual(['logs dropped 2 spool-full', 'logs dropped 1 too-old'])
    expect(delivery.stats()).toMatchObject({ spooled: 0, dropped: { 'spool-full': 2, 'too-old': 1 } })
    expect(addsUp(delivery.stats())).toBe(true)
  })

  it('end no drain when another process had left them', async () => {
    const { clock, buffer, delivery, store, parked } = setUpStore()
    parked(1)
    buffer.adopt(0, 1)
    store.silent = true
    let ended = false
    void delivery.flush({ timeoutMs: 5000 }).then(() => {
      ended = true
    })
    buffer.lost(0, { count: 1, reason: 'too-old', adopted: true })
    await clock.advance(0)
    expect(ended).toBe(false)
    expect(delivery.stats()).toMatchObject({ accepted: 2, spooled: 1, dropped: { 'too-old': 1 } })
  })

  it.each([
    ['for want of room', 'queue-full', 'shutdown'],
    ['for another reason', 'too-old', 'too-old'],
  ] as const)('%s are dropped by %s before the close, and by %s after it', (_, reason, after) => {
    const { buffer, delivery, parked } = setUpStore()
    parked(2)
    buffer.lost(0, { count: 1, reason, adopted: false })
    expect(delivery.stats().dropped[reason]).toBe(1)
    buffer.intake.close()
    buffer.lost(0, { count: 1, reason, adopted: false })
    expect(delivery.stats().dropped[after]).toBe(reason === after ? 2 : 1)
  })
})

describe('room for records that another process has left', () => {
  it('is up to half of memory, while no record of the lane waits', () => {
    const { buffer, log } = setUpStore()
    expect(buffer.room(0).records).toBe(4)
    log('one')
    expect(buffer.room(0).records).toBe(0)
    expect(buffer.room(1).records).toBe(3)
  })

  it('is one record while others take more than half of memory, and parks none of them', async () => {
    const { clock, sender, buffer, values, places } = setUpStore()
    sender.answer = () => answers.refused
    values(6)
    await clock.advance(1)
    expect(buffer.room(0).records).toBe(1)
    expect(places()[1]).toEqual([6, 0])
  })

  it('is made where memory is full of records that may not be sent', async () => {
    const { clock, sender, buffer, values, places } = setUpStore()
    sender.answer = () => answers.refused
    values(8)
    await clock.advance(1)
    expect(buffer.room(0).records).toBe(1)
    expect(places()[1]).toEqual([1, 7])
  })

  it('is none after the close', () => {
    const { buffer } = setUpStore()
    buffer.intake.close()
    expect(buffer.room(0)).toEqual({ records: 0, bytes: 0 })
  })
})

describe('a listener that logs', () => {
  it('while a record takes the place of another has its own record delivered, and harms neither', async () => {
    const lost: string[] = []
    const set = setUp({
      limits: { maxQueueRecords: 3, maxQueueBytes: 1000 },
      observer: {
        ...silentObserver,
        dropped: () => {
          lost.push('one')
          if (lost.length === 1) set.log('of the listener', 4)
        },
      },
    })
    for (const body of ['one', 'two', 'three', 'four']) set.log(body)
    await set.clock.advance(100)
    expect(set.sender.sent).toEqual(['three', 'four', 'of the listener'])
    expect(set.delivery.stats()).toMatchObject({ accepted: 5, delivered: 3 })
    expect(addsUp(set.delivery.stats())).toBe(true)
  })
})
