import { describe, expect, it } from 'vitest'
import type { Standstill } from '../../src/engine/worker-position.js'
import type { EngineClient, FailedWorker, LostRecords } from '../../src/hand-off/delivery-thread.js'
import type { EnginePlan, WorkerMessage } from '../../src/hand-off/protocol.js'
import { Supervisor } from '../../src/hand-off/supervisor.js'
import type { Link, WorkerLinkPlan } from '../../src/hand-off/worker-link.js'
import { leaveUnreported } from '../../src/runtime/shared-state.js'
import { settle, VirtualClock } from '../support/virtual-clock.js'

/** A worker that fails when the test says so. */
class FakeLink implements Link {
  readonly plan: WorkerLinkPlan
  readonly opened: { readonly engine: number; readonly plan: EnginePlan }[] = []
  readonly written: string[] = []
  standstill: Standstill | undefined
  outlivesItsEnd = false
  answers = true
  flushes = true
  /** How long it was waited for its answers. */
  readonly patience: number[] = []
  terminated = false
  /** Resolves when its thread is gone. */
  termination: Promise<void> = Promise.resolve()

  constructor(plan: WorkerLinkPlan) {
    this.plan = plan
  }

  open(engine: number, plan: EnginePlan): void {
    this.opened.push({ engine, plan })
  }

  write(engine: number, bytes: Buffer): void {
    this.written.push(`${engine}: ${bytes}`)
  }

  answersSync(patienceMs: number): boolean {
    this.patience.push(patienceMs)
    return this.answers
  }

  flushSync(): boolean {
    return this.answers && this.flushes
  }

  terminate(): Promise<void> {
    this.terminated = true
    return this.termination
  }

  terminateSync(): void {
    this.terminated = true
  }
}

/** Notes the calls that it gets. */
class FakeClient implements EngineClient {
  readonly options: { readonly spoolDir: string | undefined }
  readonly calls: string[] = []
  readonly losses: FailedWorker[] = []
  busy = false
  records: LostRecords = { lost: 0, spooled: 0 }

  constructor(spoolDir?: string) {
    this.options = { spoolDir }
  }

  plan({ diskIsStalled }: { diskIsStalled: boolean }): EnginePlan {
    return { diskIsStalled } as EnginePlan
  }

  attached(): void {
    this.calls.push('attached')
  }

  detached(): void {
    this.calls.push('detached')
  }

  workerFailed(worker: FailedWorker): LostRecords {
    this.calls.push('lost')
    this.losses.push(worker)
    return this.records
  }

  cannotStart(): void {
    this.calls.push('cannot start')
  }

  readonly messages: WorkerMessage[] = []

  received(message: WorkerMessage): void {
    this.messages.push(message)
  }
}

function setUp({ refuses = () => false }: { refuses?: () => boolean } = {}) {
  const clock = new VirtualClock()
  const links: FakeLink[] = []
  const printed: string[] = []
  const supervisor = new Supervisor({
    clock,
    print: (text) => printed.push(text),
    start(plan) {
      if (refuses()) throw new Error('not allowed')
      const link = new FakeLink(plan)
      links.push(link)
      return link
    },
  })
  const join = (spoolDir?: string) => {
    const client = new FakeClient(spoolDir)
    const engine = supervisor.join(client)
    supervisor.connect(engine)
    return { client, engine }
  }
  const fail = async (reason = 'it has died', { cannotStart = false } = {}) => {
    links.at(-1)!.plan.failed({ reason, cannotStart })
    await settle()
  }
  return { clock, links, printed, supervisor, join, fail }
}

describe('the supervisor of the delivery worker', () => {
  it('starts one worker for all engines, and ends it with the last of them', async () => {
    const { links, supervisor, join } = setUp()
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
    const { links, printed, join, fail } = setUp()
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

  it('blames a line only of the engine whose lines the worker took', async () => {
    const { links, join, fail } = setUp()
    const clients = [join().client, join().client]
    links[0]!.standstill = { engine: 2, at: 'line' }
    await fail()
    expect(clients.map(({ losses }) => losses[0]!.at)).toEqual([undefined, 'line'])
  })

  it('pauses when two workers have failed in a minute, longer each time, and starts at once again after a good minute', async () => {
    const { clock, links, printed, join, fail } = setUp()
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
    const { clock, links, supervisor, join, fail } = setUp()
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
    const { links, join, fail } = setUp()
    join('/spool')
    join('/spool')
    join('/elsewhere')
    links[0]!.standstill = { engine: 1, at: 'disk' }
    await fail()
    expect(links[1]!.opened.map(({ plan }) => plan.diskIsStalled)).toEqual([true, true, false])
  })

  it('knows that the process cannot end while a thread waits for the disk', async () => {
    const { links, supervisor, join, fail } = setUp()
    join('/spool')
    links[0]!.standstill = { engine: 1, at: 'disk' }
    links[0]!.outlivesItsEnd = true
    await fail()
    expect(supervisor.keepsProcess).toBe(true)
    links[0]!.outlivesItsEnd = false
    expect(supervisor.keepsProcess).toBe(false)
  })

  it('knows it even when its engines have been closed meanwhile', async () => {
    const { links, supervisor, join } = setUp()
    const { engine } = join('/spool')
    links[0]!.outlivesItsEnd = true
    await supervisor.leave(engine)
    expect(supervisor.keepsProcess).toBe(true)
    links[0]!.outlivesItsEnd = false
    expect(supervisor.keepsProcess).toBe(false)
  })

  it('keeps a new engine away from a spool whose disk held the worker when the last engine was closed', async () => {
    const { links, supervisor, join } = setUp()
    const { engine } = join('/spool')
    links[0]!.standstill = { engine, at: 'disk' }
    await supervisor.leave(engine)
    join('/spool')
    expect(links[1]!.opened.map(({ plan }) => plan.diskIsStalled)).toEqual([true])
  })

  it('leaves delivery to the application’s thread where no worker can be started, and only there', async () => {
    leaveUnreported('inline')
    const { links, supervisor, join, fail } = setUp()
    const { client } = join()
    await fail('a module is missing', { cannotStart: true })
    expect(client.calls.at(-1)).toBe('cannot start')
    expect(join().client.calls).toEqual(['cannot start'])
    expect({ links: links.length, available: supervisor.available() }).toEqual({ links: 1, available: false })
  })

  it('keeps delivery out of the application’s thread when a later worker fails at its start', async () => {
    const { links, join, fail } = setUp()
    const { client } = join()
    await fail()
    await fail('out of memory', { cannotStart: true })
    expect(client.calls).not.toContain('cannot start')
    expect(links).toHaveLength(2)
  })

  it('replaces a stuck worker once at the end of the process, while the event loop stands still', () => {
    const { links, supervisor, join } = setUp()
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
    const { links, supervisor, join, fail } = setUp()
    join()
    await fail()
    await fail()
    expect(supervisor.reachSync(1000)).toBe(true)
    expect(links).toHaveLength(3)
  })
})

describe('the supervisor, when engines leave or the process ends while a worker is replaced', () => {
  it('starts no other worker for engines that left while the failed one was terminated', async () => {
    const { links, printed, supervisor, join } = setUp()
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
    const { links, supervisor, join } = setUp()
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
    const { clock, links, supervisor, join, fail } = setUp()
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
    const { clock, links, join, fail } = setUp()
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
    const { links, supervisor, join } = setUp()
    const { client } = join()
    links[0]!.plan.failed({ reason: 'it has died', cannotStart: false })
    expect(supervisor.reachSync(1000)).toBe(true)
    await settle()
    expect(client.calls).toEqual(['attached', 'detached', 'lost', 'attached'])
    expect(links).toHaveLength(2)
  })

  it('hands nothing over while no worker runs', async () => {
    const { links, supervisor, join, fail } = setUp()
    const { engine } = join()
    await fail()
    links[1]!.plan.failed({ reason: 'it has died', cannotStart: false })
    expect(supervisor.handOverSync()).toBe(false)
    await settle()
    expect(supervisor.handOverSync()).toBe(false)
    supervisor.write(engine, Buffer.from('v1,1\n'))
    expect(links.flatMap(({ written }) => written)).toEqual([])
  })

  it('leaves delivery to the application’s thread when no worker may be started any more', async () => {
    let allowed = true
    const { links, join, fail, supervisor } = setUp({ refuses: () => !allowed })
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
    const { links, printed, join } = setUp()
    for (const records of [1, 2]) join().client.records = { lost: records, spooled: records - 1 }
    links[0]!.plan.failed({ reason: 'it has died', cannotStart: false })
    await settle()
    expect(printed).toEqual([
      'the delivery worker has failed (it has died); 3 records that it had taken are lost; 1 record that it had taken are left to the spool; starting it again',
    ])
  })
})

describe('the worker of a supervisor', () => {
  it('gets the lines of every engine, and its messages go to the engine that they name', () => {
    const { links, supervisor, join } = setUp()
    const [first, second] = [join(), join()]
    supervisor.write(second.engine, Buffer.from('v1,1'))
    expect(links[0]!.written).toEqual([`${second.engine}: v1,1`])
    const message = { engine: second.engine, type: 'drained', request: 3 } as const
    links[0]!.plan.received(message)
    links[0]!.plan.received({ ...message, engine: 99 })
    expect([first.client.messages, second.client.messages]).toEqual([[], [message]])
  })

  it('has work while one of its engines has', () => {
    const { links, join } = setUp()
    const [first, second] = [join().client, join().client]
    const busy = () => links[0]!.plan.busy()
    expect(busy()).toBe(false)
    second.busy = true
    expect(busy()).toBe(true)
    first.busy = true
    expect(busy()).toBe(true)
  })

  it('is started before the first engine, to see if that is possible', () => {
    const { links, supervisor } = setUp()
    expect([supervisor.available(), supervisor.available()]).toEqual([true, true])
    expect(links).toHaveLength(1)
  })

  it('cannot be started: that is known from the first question on', () => {
    leaveUnreported('inline')
    const { supervisor } = setUp({ refuses: () => true })
    expect([supervisor.available(), supervisor.available()]).toEqual([false, false])
  })

  it('that was replaced is not replaced again by a late message of its failure', async () => {
    const { links, printed, join, fail } = setUp()
    join()
    const failure = { reason: 'it has died', cannotStart: false }
    links[0]!.plan.failed(failure)
    links[0]!.plan.failed(failure)
    await settle()
    links[0]!.plan.failed(failure)
    await settle()
    expect({ links: links.length, printed: printed.length }).toEqual({ links: 2, printed: 1 })
    await fail()
  })

  it.each([
    ['line', 'the line at which it stopped is given up'],
    ['disk', 'it waited for the disk of the spool, which is left alone until it answers'],
  ] as const)('that stopped at the %s is reported so', async (at, words) => {
    const { links, printed, join, fail } = setUp()
    join('/spool')
    links[0]!.standstill = { engine: 1, at }
    await fail()
    expect(printed).toEqual([`the delivery worker has failed (it has died); ${words}; starting it again`])
  })

  it('that fails a good minute after the one before is replaced at once', async () => {
    const { clock, links, join, fail } = setUp()
    join()
    await fail()
    await clock.advance(60_000)
    await fail()
    expect(links).toHaveLength(3)
    await clock.advance(59_999)
    await fail()
    expect(links).toHaveLength(3)
  })

  it('that waits for the disk keeps the process', () => {
    const { links, supervisor, join } = setUp()
    join('/spool')
    expect(supervisor.keepsProcess).toBe(false)
    links[0]!.standstill = { engine: 1, at: 'line' }
    expect(supervisor.keepsProcess).toBe(false)
    links[0]!.standstill = { engine: 1, at: 'disk' }
    expect(supervisor.keepsProcess).toBe(true)
  })

  it('that waits for the disk of one engine says nothing about the spool of another', async () => {
    const { links, supervisor, join } = setUp()
    const [first, second] = [join('/one'), join('/two')]
    links[0]!.standstill = { engine: second.engine, at: 'disk' }
    await supervisor.leave(first.engine)
    await supervisor.leave(second.engine)
    join('/one')
    join('/two')
    expect(links[1]!.opened.map(({ plan }) => plan.diskIsStalled)).toEqual([false, true])
  })
})

describe('a drain while a supervisor pauses', () => {
  async function setUpPause() {
    const set = setUp()
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
  it('hands over only to a worker that answers and takes the lines', () => {
    const { links, supervisor, join } = setUp()
    join()
    expect(supervisor.handOverSync()).toBe(true)
    expect(links[0]!.patience).toEqual([3000])
    links[0]!.flushes = false
    expect(supervisor.handOverSync()).toBe(false)
    links[0]!.answers = false
    expect(supervisor.handOverSync()).toBe(false)
  })

  it('waits for a worker for its own time, and three seconds at least', () => {
    const { links, supervisor, join } = setUp()
    join()
    expect([supervisor.reachSync(100), supervisor.reachSync(10_000)]).toEqual([true, true])
    expect(links[0]!.patience).toEqual([3000, 10_000])
    expect(links).toHaveLength(1)
  })

  it('replaces a worker that takes no lines, at once, though others have failed before', async () => {
    const { links, printed, supervisor, join, fail } = setUp()
    join()
    await fail()
    links[1]!.flushes = false
    expect(supervisor.reachSync(1000)).toBe(true)
    expect(links).toHaveLength(3)
    expect(links[1]!.terminated).toBe(true)
    expect(printed.at(-1)).toBe(
      'the delivery worker has failed (it does not answer at the end of the process); starting it again',
    )
  })
})
