import { describe, expect, it } from 'vitest'
import { superviseFakes } from '../support/supervised.js'
import { settle } from '../support/virtual-clock.js'

describe('the supervisor, when engines leave or the process ends while a worker is replaced', () => {
  it('starts no other worker for engines that left while the failed one was terminated', async () => {
    const { links, printed, supervisor, join } = superviseFakes()
    const { client, engine } = join()
    links[0]!.plan.failed({ reason: 'it has died', cannotStart: false })
    await supervisor.leave(engine)
    await settle()
    expect({ links: links.length, calls: client.calls, printed }).toEqual({
      links: 1,
      calls: ['attached', 'detached'],
      printed: [],
    })
    expect(join().client.calls).toEqual(['attached'])
    expect(links).toHaveLength(2)
  })

  it('counts the records of a failed worker when its own thread is gone, and not that of the one before', async () => {
    const { links, supervisor, join } = superviseFakes()
    const { engine } = join()
    let firstIsGone = () => {}
    links[0]!.termination = new Promise((resolve) => {
      firstIsGone = resolve
    })
    links[0]!.plan.failed({ reason: 'it has died', cannotStart: false })
    void supervisor.leave(engine)
    const { client } = join()
    links[1]!.termination = new Promise(() => {})
    links[1]!.plan.failed({ reason: 'it has died', cannotStart: false })
    firstIsGone()
    await settle()
    expect(client.calls).toEqual(['attached', 'detached'])
  })

  it('starts none for engines that left during the pause after failures', async () => {
    const { clock, links, supervisor, join, fail } = superviseFakes()
    const { engine } = join()
    await fail()
    await fail()
    expect(clock.timers).toBe(1)
    await supervisor.leave(engine)
    expect(clock.timers).toBe(0)
    await clock.advance(120_000)
    expect(links).toHaveLength(2)
  })

  it('opens an engine that joins during the pause when the next worker starts', async () => {
    const { clock, links, join, fail } = superviseFakes()
    join()
    await fail()
    await fail()
    const { client, engine } = join()
    expect(client.calls).toEqual([])
    await clock.advance(1000)
    expect(client.calls).toEqual(['attached'])
    expect(links[2]!.opened.map((opened) => opened.engine)).toContain(engine)
  })

  it('starts the next worker at once when the process ends during the replacement, and only one', async () => {
    const { links, supervisor, join } = superviseFakes()
    const { client } = join()
    links[0]!.plan.failed({ reason: 'it has died', cannotStart: false })
    expect(supervisor.reachSync(1000)).toBe(true)
    expect(links).toHaveLength(2)
    await settle()
    expect(client.calls).toEqual(['attached', 'detached', 'lost', 'attached'])
    expect(links).toHaveLength(2)
  })

  it('ends the failed worker before it counts its records when the process ends: the event loop ends it no more', () => {
    const { links, supervisor, join } = superviseFakes()
    const { client } = join()
    links[0]!.termination = new Promise(() => {})
    links[0]!.plan.failed({ reason: 'it does not answer any more', cannotStart: false })
    const endedBefore: boolean[] = []
    client.workerFailed = () => {
      endedBefore.push(links[0]!.terminatedSync)
      return client.records
    }
    expect(supervisor.reachSync(1000)).toBe(true)
    expect(endedBefore).toEqual([true])
  })

  it('counts the records of failed workers once when the process ends during the pause after them', async () => {
    const { printed, supervisor, join, fail } = superviseFakes()
    const { client } = join()
    await fail()
    await fail()
    expect(supervisor.reachSync(1000)).toBe(true)
    expect(client.calls.filter((call) => call === 'lost')).toHaveLength(2)
    expect(printed).toHaveLength(2)
  })

  it('knows no worker that starts or answers while none runs', async () => {
    const { links, supervisor, join, fail } = superviseFakes()
    join()
    expect([supervisor.startsSync(1000), supervisor.answersSync(1000)]).toEqual([true, true])
    await fail()
    links[1]!.plan.failed({ reason: 'it has died', cannotStart: false })
    expect([supervisor.startsSync(1000), supervisor.answersSync(1000)]).toEqual([false, false])
    await settle()
    expect([supervisor.startsSync(1000), supervisor.answersSync(1000)]).toEqual([false, false])
    expect(links.flatMap(({ patience }) => patience)).toEqual([1000])
  })

  it('leaves delivery to the application’s thread when no worker may be started any more', async () => {
    let allowed = true
    const { links, join, fail, supervisor } = superviseFakes({ refuses: () => !allowed })
    const { client, engine } = join()
    await fail()
    allowed = false
    await fail()
    expect(links).toHaveLength(2)
    expect(supervisor.reachSync(1000)).toBe(false)
    expect(client.calls.at(-1)).toBe('cannot start')
    await supervisor.leave(engine)
    allowed = true
    expect(supervisor.available()).toBe(false)
  })

  it('counts the lost records of all engines in its line', async () => {
    const { links, printed, join } = superviseFakes()
    for (const records of [1, 2]) join().client.records = { lost: records, spooled: records - 1, unreadable: 0 }
    links[0]!.plan.failed({ reason: 'it has died', cannotStart: false })
    await settle()
    expect(printed).toEqual([
      'the delivery worker has failed (it has died); 3 records that it had taken are lost; 1 record that it had taken are left to the spool; starting it again',
    ])
  })
})

describe('a drain while a supervisor pauses', () => {
  async function setUpPause() {
    const set = superviseFakes()
    set.join()
    for (let failure = 0; failure < 3; failure++) {
      await set.fail()
      if (failure === 1) await set.clock.advance(1000)
    }
    // It pauses for two seconds.
    return { ...set, before: set.links.length }
  }

  it('starts a worker a second after the failure, and no earlier', async () => {
    const { clock, links, supervisor, before } = await setUpPause()
    await clock.advance(400)
    supervisor.hurry()
    supervisor.hurry()
    await clock.advance(599)
    expect(links).toHaveLength(before)
    await clock.advance(1)
    expect(links).toHaveLength(before + 1)
    expect(clock.timers).toBe(0)
  })

  it('starts a worker at once when that second is over', async () => {
    const { clock, links, supervisor, before } = await setUpPause()
    await clock.advance(1000)
    supervisor.hurry()
    expect(links).toHaveLength(before + 1)
    supervisor.hurry()
    expect(links).toHaveLength(before + 1)
  })
})

describe('the end of a process with a supervisor', () => {
  it('knows whether the worker answers', () => {
    const { links, supervisor, join } = superviseFakes()
    join()
    expect(supervisor.answersSync(1000)).toBe(true)
    expect(links[0]!.patience).toEqual([1000])
    links[0]!.answers = false
    expect(supervisor.answersSync(1000)).toBe(false)
  })

  it('waits for a worker for its own time and no longer, also where that worker is starting', () => {
    const { links, supervisor, join } = superviseFakes()
    join()
    expect([supervisor.reachSync(100), supervisor.reachSync(10_000)]).toEqual([true, true])
    expect(links[0]!.patience).toEqual([100, 10_000])
    expect(links).toHaveLength(1)
  })

  it('starts no other worker where the time is over with the first one', () => {
    const { clock, links, printed, supervisor, join } = superviseFakes()
    join()
    links[0]!.answersSync = (withinMs) => {
      clock.block(withinMs)
      return false
    }
    expect(supervisor.reachSync(100)).toBe(false)
    expect(links).toHaveLength(1)
    expect(printed).toEqual([])
  })

  it('replaces a worker that does not answer, at once, though others have failed before', async () => {
    const { links, printed, supervisor, join, fail } = superviseFakes()
    join()
    await fail()
    links[1]!.answers = false
    expect(supervisor.reachSync(1000)).toBe(true)
    expect(links).toHaveLength(3)
    expect(links[1]!.terminated).toBe(true)
    expect(printed.at(-1)).toBe(
      'the delivery worker has failed (it does not answer at the end of the process); starting it again',
    )
  })
})
