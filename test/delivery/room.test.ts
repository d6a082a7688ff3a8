import { describe, expect, it } from 'vitest'
import { setUp } from '../support/delivery.js'
import { answers } from '../support/scripted-sender.js'

/** The names of the waits that have resolved, in their order. */
function watch(delivery: ReturnType<typeof setUp>['delivery']) {
  const resolved: string[] = []
  const wait = (name: string, bytes: number) => void delivery.whenRoom(bytes).then(() => resolved.push(name))
  return { resolved, wait }
}

describe('waiting for room in the queue', () => {
  it('resolves at once while a record fits', async () => {
    const { clock, delivery } = setUp({ limits: { maxQueueRecords: 1, maxQueueBytes: 10 } })
    const { resolved, wait } = watch(delivery)
    wait('small', 10)
    wait('larger than the queue', 11)
    await clock.advance(0)
    expect(resolved).toEqual(['small', 'larger than the queue'])
  })

  it('resolves when a record is settled that made the queue full', async () => {
    const { clock, sender, delivery, log } = setUp({ limits: { maxQueueRecords: 2, maxQueueBytes: 100 } })
    const { resolved, wait } = watch(delivery)
    sender.latencyMs = 50
    log('a')
    log('b')
    expect(delivery.hasRoom(1)).toBe(false)
    wait('one', 1)
    wait('another', 1)
    await clock.advance(49)
    expect(resolved).toEqual([])
    await clock.advance(1)
    expect(resolved).toEqual(['one', 'another'])
    expect(delivery.hasRoom(1)).toBe(true)
  })

  it('waits until as many bytes are free as the record takes, and wakes the others before', async () => {
    const { clock, sender, delivery, log } = setUp({
      limits: { maxQueueRecords: 10, maxQueueBytes: 20 },
      maxConnections: 1,
    })
    const { resolved, wait } = watch(delivery)
    sender.latencyMs = 50
    log('x'.repeat(10))
    log('y'.repeat(10))
    wait('nothing held', Number.POSITIVE_INFINITY)
    wait('large', 15)
    wait('small', 5)
    await clock.advance(50)
    expect(resolved).toEqual(['small'])
    await clock.advance(50)
    expect(resolved).toEqual(['small', 'nothing held', 'large'])
  })

  it('resolves when delivery closes', async () => {
    const { clock, sender, delivery, log } = setUp({ limits: { maxQueueRecords: 1, maxQueueBytes: 100 } })
    const { resolved, wait } = watch(delivery)
    sender.answer = () => answers.refused
    log('a')
    wait('before', 1)
    await clock.advance(10)
    expect(resolved).toEqual([])
    const closed = delivery.close({ timeoutMs: 1000 })
    wait('after', 1)
    await clock.advance(0)
    expect(resolved.sort()).toEqual(['after', 'before'])
    await clock.advance(2000)
    await closed
  })

  it('resolves when the records are left to the store at the end of the process', async () => {
    const { clock, sender, delivery, log } = setUp({ limits: { maxQueueRecords: 1, maxQueueBytes: 100 } })
    const { resolved, wait } = watch(delivery)
    sender.answer = () => answers.refused
    log('a')
    wait('one', 1)
    delivery.leave()
    await clock.advance(0)
    expect(resolved).toEqual(['one'])
  })
})
