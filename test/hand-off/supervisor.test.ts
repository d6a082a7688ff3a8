import { describe, expect, it } from 'vitest'
import { leaveUnreported } from '../../src/runtime/shared-state.js'
import { superviseFakes } from '../support/supervised.js'
import { settle } from '../support/virtual-clock.js'

describe('the supervisor of the delivery worker', () => {
  it('starts one worker for all engines, and ends it with the last of them', async () => {
    const { links, supervisor, join } = superviseFakes()
    const engines = [join(), join(), join()]
    expect(links).toHaveLength(1)
    expect(links[0]!.opened.map(({ engine }) => engine)).toEqual([1, 2, 3])
    for (const { engine } of engines.slice(1)) await supervisor.leave(engine)
    expect(links[0]!.terminated).toBe(false)
    await supervisor.leave(engines[0]!.engine)
    expect(links[0]!.terminated).toBe(true)
    join()
    expect(links).toHaveLength(2)
  })

  it('terminates a failed worker before it counts its records, and starts another', async () => {
    const { links, printed, join, fail } = superviseFakes()
    const { client } = join()
    links[0]!.plan.failed({ reason: 'it does not answer any more', cannotStart: false })
    expect(client.calls).toEqual(['attached', 'detached'])
    expect(links[0]!.terminated).toBe(true)
    await settle()
    expect(client.calls).toEqual(['attached', 'detached', 'lost', 'attached'])
    expect(links).toHaveLength(2)
    expect(printed).toEqual(['the delivery worker has failed (it does not answer any more); starting it again'])
    await fail()
  })

  it('tells every engine why the worker has failed: each knows what that was taking of it', async () => {
    const { join, fail } = superviseFakes()
    const clients = [join().client, join().client]
    await fail('it has died of a line')
    expect(clients.map(({ failures }) => failures)).toEqual(clients.map(() => [{ reason: 'it has died of a line' }]))
  })

  it('pauses when two workers have failed in a minute, longer each time, and starts at once again after a good minute', async () => {
    const { clock, links, printed, join, fail } = superviseFakes()
    join()
    await fail()
    await fail()
    expect(links).toHaveLength(2)
    const pauses: number[] = []
    for (let turn = 0; turn < 8; turn++) {
      const before = links.length
      let pauseMs = 0
      for (; links.length === before; pauseMs += 100) await clock.advance(100)
      pauses.push(pauseMs / 1000)
      await fail()
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60])
    expect(printed[1]).toBe('the delivery worker has failed (it has died); starting it again in 1 s')
    await clock.advance(60_000)
    await clock.advance(180_000)
    const before = links.length
    await fail()
    expect(links).toHaveLength(before + 1)
  })

  it('starts the next one earlier for a drain, but at most one a second', async () => {
    const { clock, links, supervisor, join, fail } = superviseFakes()
    join()
    for (let turn = 0; turn < 3; turn++) {
      await fail()
      await clock.advance(1000)
    }
    expect(links).toHaveLength(3)
    for (let flush = 0; flush < 100; flush++) supervisor.hurry()
    expect(links).toHaveLength(4)
    await fail()
    for (let flush = 0; flush < 100; flush++) supervisor.hurry()
    expect(links).toHaveLength(4)
    await clock.advance(1000)
    expect(links).toHaveLength(5)
  })

  it('keeps an engine whose worker waited for the disk away from its spool, and those that share it', async () => {
    const { links, join, fail } = superviseFakes()
    join('/spool')
    join('/spool')
    join('/elsewhere')
    links[0]!.atDiskOf = 1
    await fail()
    expect(links[1]!.opened.map(({ plan }) => plan.diskIsStalled)).toEqual([true, true, false])
  })

  it('knows that the process cannot end while a thread waits for the disk', async () => {
    const { links, supervisor, join, fail } = superviseFakes()
    join('/spool')
    links[0]!.atDiskOf = 1
    links[0]!.outlivesItsEnd = true
    await fail()
    expect(supervisor.keepsProcess).toBe(true)
    links[0]!.outlivesItsEnd = false
    expect(supervisor.keepsProcess).toBe(false)
  })

  it('knows it even when its engines have been closed meanwhile', async () => {
    const { links, supervisor, join } = superviseFakes()
    const { engine } = join('/spool')
    links[0]!.outlivesItsEnd = true
    await supervisor.leave(engine)
    expect(supervisor.keepsProcess).toBe(true)
    links[0]!.outlivesItsEnd = false
    expect(supervisor.keepsProcess).toBe(false)
  })

  it('lets an engine leave while the worker goes on from the disk', async () => {
    const { links, supervisor, join } = superviseFakes()
    const { engine } = join('/spool')
    const places = [engine]
    Object.defineProperty(links[0]!, 'atDiskOf', { get: () => places.pop() })
    await expect(supervisor.leave(engine)).resolves.toBeUndefined()
  })

  it('keeps a new engine away from a spool whose disk held the worker when the last engine was closed', async () => {
    const { links, supervisor, join } = superviseFakes()
    const { engine } = join('/spool')
    links[0]!.atDiskOf = engine
    await supervisor.leave(engine)
    join('/spool')
    expect(links[1]!.opened.map(({ plan }) => plan.diskIsStalled)).toEqual([true])
  })

  it('leaves delivery to the application’s thread where no worker can be started, and only there', async () => {
    leaveUnreported('inline')
    const { links, supervisor, join, fail } = superviseFakes()
    const { client } = join()
    await fail('a module is missing', { cannotStart: true })
    expect(client.calls.at(-1)).toBe('cannot start')
    expect(join().client.calls).toEqual(['cannot start'])
    expect({ links: links.length, available: supervisor.available() }).toEqual({ links: 1, available: false })
  })

  it('keeps delivery out of the application’s thread when a later worker fails at its start', async () => {
    const { links, join, fail } = superviseFakes()
    const { client } = join()
    await fail()
    await fail('out of memory', { cannotStart: true })
    expect(client.calls).not.toContain('cannot start')
    expect(links).toHaveLength(2)
  })

  it('replaces a stuck worker once at the end of the process, while the event loop stands still', () => {
    const { links, supervisor, join } = superviseFakes()
    const { client } = join()
    links[0]!.answers = false
    expect(supervisor.reachSync(1000)).toBe(true)
    expect(links).toHaveLength(2)
    expect(client.calls).toEqual(['attached', 'detached', 'lost', 'attached'])
    links[1]!.answers = false
    expect(supervisor.reachSync(1000)).toBe(false)
    expect(links).toHaveLength(2)
  })

  it('starts a worker at the end of the process, even during the pause after failures', async () => {
    const { links, supervisor, join, fail } = superviseFakes()
    join()
    await fail()
    await fail()
    expect(supervisor.reachSync(1000)).toBe(true)
    expect(links).toHaveLength(3)
  })
})

describe('the worker of a supervisor', () => {
  it('has its messages go to the engine that they name', () => {
    const { links, join } = superviseFakes()
    const [first, second] = [join(), join()]
    const message = { engine: second.engine, news: { type: 'dropped' } } as const
    links[0]!.plan.received(message)
    links[0]!.plan.received({ ...message, engine: 99 })
    expect([first.client.messages, second.client.messages]).toEqual([[], [message]])
  })

  it('has its last messages go to the engine with which it ends, and none later', async () => {
    const { links, supervisor, join } = superviseFakes()
    const { client, engine } = join()
    let gone = () => {}
    links[0]!.termination = new Promise((resolve) => {
      gone = resolve
    })
    const left = supervisor.leave(engine)
    const message = { engine, news: { type: 'dropped' } } as const
    links[0]!.plan.received(message)
    expect(client.messages).toEqual([message])
    gone()
    await left
    links[0]!.plan.received(message)
    expect(client.messages).toHaveLength(1)
  })

  it('is watched when there is work, and only while it runs', async () => {
    const { links, supervisor, join, fail } = superviseFakes()
    supervisor.watch()
    join()
    supervisor.watch()
    expect(links[0]!.watched).toBe(1)
    await fail()
    supervisor.watch()
    expect(links.map(({ watched }) => watched)).toEqual([1, 1])
  })

  it('is at a record while it takes one of any engine, also of one that leaves', async () => {
    const { links, supervisor, join } = superviseFakes()
    const [first, second] = [join(), join()]
    const taking = () => links[0]!.plan.taking()
    expect(taking()).toBe(undefined)
    second.client.taking = 64
    expect(taking()).toBe(64)
    second.client.taking = undefined
    first.client.taking = 0
    expect(taking()).toBe(0)
    await supervisor.leave(second.engine)
    const seen: (number | undefined)[] = []
    links[0]!.terminate = async () => void seen.push(taking())
    await supervisor.leave(first.engine)
    expect(seen).toEqual([0])
    expect(taking()).toBe(undefined)
  })

  it('has work while one of its engines has', () => {
    const { links, join } = superviseFakes()
    const [first, second] = [join().client, join().client]
    const busy = () => links[0]!.plan.busy()
    expect(busy()).toBe(false)
    second.busy = true
    expect(busy()).toBe(true)
    first.busy = true
    expect(busy()).toBe(true)
  })

  it('is started before the first engine, to see if that is possible', () => {
    const { links, supervisor } = superviseFakes()
    expect([supervisor.available(), supervisor.available()]).toEqual([true, true])
    expect(links).toHaveLength(1)
  })

  it('cannot be started: that is known from the first question on', () => {
    leaveUnreported('inline')
    const { supervisor } = superviseFakes({ refuses: () => true })
    expect([supervisor.available(), supervisor.available()]).toEqual([false, false])
  })

  it('that was replaced is not replaced again by a late message of its failure', async () => {
    const { links, printed, join, fail } = superviseFakes()
    const { client } = join()
    const failure = { reason: 'it has died', cannotStart: false }
    links[0]!.plan.failed(failure)
    links[0]!.plan.failed(failure)
    await settle()
    links[0]!.plan.failed(failure)
    await settle()
    expect({ links: links.length, printed: printed.length }).toEqual({ links: 2, printed: 1 })
    expect(client.calls).toEqual(['attached', 'detached', 'lost', 'attached'])
    await fail()
    expect(links[1]!.terminated).toBe(true)
  })

  it('that stopped at a record is reported so', async () => {
    const { printed, join, fail } = superviseFakes()
    join()
    join().client.records = { lost: 0, spooled: 0, unreadable: 1 }
    await fail()
    const words = 'the line at which it stopped is given up'
    expect(printed).toEqual([`the delivery worker has failed (it has died); ${words}; starting it again`])
  })

  it('that stopped at the disk is reported so', async () => {
    const { links, printed, join, fail } = superviseFakes()
    join('/spool')
    links[0]!.atDiskOf = 1
    await fail()
    const words = 'it waited for the disk of the spool, which is left alone until it answers'
    expect(printed).toEqual([`the delivery worker has failed (it has died); ${words}; starting it again`])
  })

  it('that fails a good minute after the one before is replaced at once', async () => {
    const { clock, links, join, fail } = superviseFakes()
    join()
    await fail()
    await clock.advance(60_000)
    await fail()
    expect(links).toHaveLength(3)
    await clock.advance(59_999)
    await fail()
    expect(links).toHaveLength(3)
  })

  it.each([
    ['at once a minute after the last pause', 61_000, 4],
    ['after a longer pause before that', 60_999, 3],
  ])('that fails is replaced %s', async (_, afterMs, expected) => {
    const { clock, links, join, fail } = superviseFakes()
    join()
    await fail()
    await fail()
    await clock.advance(1000)
    expect(links).toHaveLength(3)
    await clock.advance(afterMs - 1000)
    await fail()
    expect(links).toHaveLength(expected)
    await clock.advance(1999)
    expect(links).toHaveLength(expected)
    await clock.advance(1)
    expect(links).toHaveLength(4)
  })

  it('that waits for the disk keeps the process', () => {
    const { links, supervisor, join } = superviseFakes()
    join('/spool')
    expect(supervisor.keepsProcess).toBe(false)
    links[0]!.atDiskOf = 1
    expect(supervisor.keepsProcess).toBe(true)
  })

  it('that waits for the disk of one engine says nothing about the spool of another', async () => {
    const { links, supervisor, join } = superviseFakes()
    const [first, second] = [join('/one'), join('/two')]
    links[0]!.atDiskOf = second.engine
    await supervisor.leave(first.engine)
    await supervisor.leave(second.engine)
    join('/one')
    join('/two')
    expect(links[1]!.opened.map(({ plan }) => plan.diskIsStalled)).toEqual([false, true])
  })
})
