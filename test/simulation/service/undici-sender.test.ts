import { afterEach, describe, expect, it } from 'vitest'
import { tally } from '../../support/batch.js'
import { fineConditions } from '../network/conditions.js'
import { numbersTo, Stage } from './stage.js'

let stage: Stage
afterEach(() => stage.end())

describe('The undici sender', () => {
  it('uses again the connection of a client that could not connect at first', async () => {
    stage = new Stage({ pipelining: 'off', maxConnections: 1 })
    const { network, service, world } = stage
    network.conditions = { ...fineConditions, refused: 1 }
    service.behave({ announcesIdle: true })
    const first = stage.begin([1])
    // undici hands it to the client of the first one.
    const second = stage.begin([2])
    await world.run(0)
    network.conditions = fineConditions
    await world.run(1000)
    expect([tally(first.outcomes), tally(second.outcomes)]).toEqual([{ unsent: 1 }, { delivered: 1 }])
    const third = stage.begin([3])
    await world.run(100)
    expect([tally(third.outcomes), network.count]).toEqual([{ delivered: 1 }, 2])
  })
})

describe('A closed undici sender', () => {
  it('leaves no connection of a client that could not connect at first', async () => {
    stage = new Stage({ pipelining: 'off', maxConnections: 1 })
    const { network, service, sender, thread, world } = stage
    network.conditions = { ...fineConditions, refused: 1 }
    service.behave({ trouble: { type: 'hang', when: 'after commit' } })
    const first = stage.begin([1])
    const second = stage.begin([2])
    await world.run(0)
    network.conditions = fineConditions
    await world.run(1000)
    expect([tally(first.outcomes), service.stored.has('r2')]).toEqual([{ unsent: 1 }, true])
    thread.post(() => void sender.close())
    await world.run(10)
    expect([tally(second.outcomes), network.socketsOf(thread)]).toEqual([{ ambiguous: 1 }, []])
  })

  it('dials no more for a probe that waited for the connection of the other sender', async () => {
    stage = new Stage({ maxConnections: 1 })
    const { network, service, sender, thread, world } = stage
    await stage.warmUp()
    service.behave({ trouble: { type: 'hang', when: 'before commit' } })
    const batch = stage.begin(numbersTo(2))
    const probe = stage.begin([3], 'logs', { probe: true })
    await world.run(1000)
    const { count } = network
    thread.post(() => void sender.close())
    await world.run(10)
    expect([tally(batch.outcomes), tally(probe.outcomes)]).toEqual([{ ambiguous: 2 }, { unsent: 1 }])
    await world.run(60_000)
    expect(network.count).toBe(count)
    expect([network.socketsOf(thread), thread.timers]).toEqual([[], 0])
  })
})
