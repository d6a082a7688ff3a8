import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Machine } from '../../src/engine/machine.js'
import { HandOff } from '../../src/hand-off/hand-off.js'
import { SluicePinoStream } from '../../src/loggers/pino-stream.js'
import { configure } from '../../src/process/configure.js'
import type { UserLease } from '../../src/process/lease.js'
import { Tracker } from '../../src/tracking/tracker.js'
import { addsUp } from '../support/delivery.js'
import { type Death, FakeThread } from '../support/fake-thread.js'
import { lanes, machineWith } from '../support/hand-off.js'
import { assertModel, type Step } from '../support/model.js'
import { settle, VirtualClock } from '../support/virtual-clock.js'

// The specification of a hand-off as a model: the accepted records, the fate of each, and any call at any time.

const shutdownTimeoutMs = 5000
/** Small, so that records wait in private memory, and long lines go in parts. */
const pipeBytes = 4096
/** Time that the answer of a drain has after its deadline, at most. */
const graceMs = { flush: 10, close: 10, park: 400 }

/** One of several users of an engine. The last one that releases it closes it. */
class SharedLease implements UserLease {
  readonly engine: HandOff
  readonly options
  readonly sources = {}
  released = false
  readonly #users: Set<SharedLease>

  constructor(engine: HandOff, users: Set<SharedLease>) {
    this.engine = engine
    this.options = engine.options
    this.#users = users
    users.add(this)
  }

  async release(options: { timeoutMs?: number } = {}): Promise<void> {
    this.released = true
    this.#users.delete(this)
    await (this.#users.size > 0 ? this.engine.flush(options) : this.engine.close(options))
  }
}

class World {
  readonly clock = new VirtualClock()
  readonly thread: FakeThread
  readonly engine: HandOff
  readonly trackers: { readonly lease: SharedLease; readonly tracker: Tracker }[]
  readonly streams: { readonly lease: SharedLease; readonly stream: SluicePinoStream }[]
  /** Each record, by its name. */
  readonly accepted = new Set<string>()
  /** Those that were dropped by the call that logged them. */
  readonly refused = new Set<string>()
  ended = false
  readonly answers: { readonly deadline: number; settled: boolean }[] = []
  /** The parks of the last seconds. */
  #parks: number[] = []

  constructor() {
    const { options } = configure(
      { url: 'http://127.0.0.1:1', apiKey: 'k', bucket: 'b', shutdownTimeoutMs, maxQueueBytes: 20_000 },
      'values',
    )
    const machine: Machine = {
      ...machineWith(this.clock, () => this.thread.work()),
      // An engine in this thread delivers nothing.
      connection: { open: (_, callback) => callback(new Error('refused'), null) },
      startExitLoop: () => undefined,
    }
    this.thread = new FakeThread(lanes, machine)
    this.engine = new HandOff(options, { thread: this.thread, machine, print: () => {}, pipeBytes })
    const users = new Set<SharedLease>()
    const leases = [0, 1, 2, 3].map(() => new SharedLease(this.engine, users))
    this.trackers = leases.slice(0, 2).map((lease) => ({ lease, tracker: new Tracker(lease) }))
    this.streams = leases.slice(2).map((lease) => ({ lease, stream: new SluicePinoStream(lease) }))
  }

  track(user: number): void {
    this.#accept('v', (number) => this.trackers[user]!.tracker.track(number))
  }

  /** The name is the end of the line: of a long one, the worker may only see that. */
  log(user: number, length: number): void {
    const text = 'x'.repeat(length)
    this.#accept('l', (number) => this.streams[user]!.stream.write(`{"level":30,"msg":"${text} l${number}"}\n`))
  }

  expect(answer: Promise<unknown>, mode: keyof typeof graceMs, timeoutMs = shutdownTimeoutMs): void {
    const expected = { deadline: this.clock.now() + timeoutMs + graceMs[mode], settled: false }
    this.answers.push(expected)
    void answer.then(() => {
      expected.settled = true
    })
  }

  park(timeoutMs: number | undefined): void {
    if (this.#mayPark()) this.expect(this.engine.park({ timeoutMs }), 'park', timeoutMs)
  }

  beforeEnd(): void {
    if (this.#mayPark()) this.engine.beforeEnd()
  }

  /** The worker does all of its work. */
  async serve(): Promise<void> {
    await settle()
    this.thread.work()
    await settle()
  }

  /** A worker that has taken records has been started: it fails before the next one cannot be. */
  forbid(): void {
    if (this.#fates.length > 0) this.thread.die()
    this.thread.forbid()
  }

  end(): void {
    if (this.ended) return
    this.ended = true
    const step = this.engine.endSync({ timeoutMs: 0 })
    for (let steps = 0; !step(0); steps++) expect(steps).toBeLessThan(10)
  }

  check(): void {
    const ledger = this.engine.stats()
    const { thread } = this
    expect(addsUp(ledger)).toBe(true)
    expect(ledger.accepted).toBe(this.accepted.size)
    expect(ledger.delivered).toBe(thread.delivered.length)
    // Each death costs one record at most that the worker had not counted: one that it took, or a long line of which it had taken a part.
    expect(ledger.dropped.unreadable).toBeGreaterThanOrEqual(thread.blamed.length)
    expect(ledger.dropped.unreadable).toBeLessThanOrEqual(thread.deaths)
    expect(this.#dropped).toBe(this.refused.size + thread.lost.length)
    for (const count of [ledger.queued, ledger.inFlight, ...Object.values(ledger.dropped)]) {
      expect(count).toBeGreaterThanOrEqual(0)
    }
    const fates = this.#fates
    expect(new Set(fates).size).toBe(fates.length)
    for (const name of fates) expect(this.accepted.has(name) && !this.refused.has(name)).toBe(true)
    for (const { deadline, settled } of this.answers) if (this.clock.now() > deadline) expect(settled).toBe(true)
  }

  /** Each record has come to its end. Nobody has seen the whole of a long line whose beginning went with a worker. */
  checkEnd(): void {
    const { dropped } = this.engine.stats()
    const fates = new Set(this.#fates)
    const left = [...this.accepted].filter((name) => !this.refused.has(name) && !fates.has(name))
    expect(left).toHaveLength(dropped.unreadable - this.thread.blamed.length)
    for (const name of left) expect(name).toMatch(/^l/)
  }

  /** Names of the records that a worker has had. */
  get #fates(): string[] {
    const { delivered, lost, blamed } = this.thread
    return [...delivered, ...lost, ...blamed].flatMap((name) => /[lv]\d+(?=\D*$)/.exec(name) ?? [])
  }

  /** The end of the process parks, once or twice. Who parks more often is not answered: a control block has few slots. */
  #mayPark(): boolean {
    const now = this.clock.now()
    this.#parks = this.#parks.filter((at) => now - at <= shutdownTimeoutMs + graceMs.park)
    return this.#parks.length < 3 && this.#parks.push(now) > 0
  }

  /** Dropped by the call that logged them, or with a worker. */
  get #dropped(): number {
    const { dropped } = this.engine.stats()
    return dropped['hand-off-full'] + dropped['worker-failed'] + dropped.closed
  }

  #accept(kind: 'l' | 'v', log: (number: number) => void): void {
    const number = this.accepted.size
    const before = this.#dropped
    log(number)
    this.accepted.add(`${kind}${number}`)
    if (this.#dropped > before) this.refused.add(`${kind}${number}`)
  }
}

const user = fc.constantFrom(0, 1)
const timeout = fc.constantFrom(undefined, 0, 100, 5000)

const step: fc.Arbitrary<Step<World>> = fc.oneof(
  { weight: 20, arbitrary: user.map((who): Step<World> => [`track ${who}`, (world) => world.track(who)]) },
  {
    weight: 20,
    arbitrary: fc
      .tuple(user, fc.constantFrom(1, 10, 700, 3000, 40_000))
      .map(([who, length]): Step<World> => [`log ${who}, ${length} characters`, (world) => world.log(who, length)]),
  },
  { weight: 20, arbitrary: fc.constant<Step<World>>(['settle', () => settle()]) },
  {
    weight: 15,
    arbitrary: fc.nat(4).map((count): Step<World> => [`take ${count}`, ({ thread }) => thread.take(count)]),
  },
  {
    weight: 15,
    arbitrary: fc.nat(4).map((count): Step<World> => [`deliver ${count}`, ({ thread }) => thread.deliver(count)]),
  },
  { weight: 10, arbitrary: fc.constant<Step<World>>(['answer', ({ thread }) => thread.answer()]) },
  {
    weight: 8,
    arbitrary: fc
      .constantFrom<Death | undefined>('before the count', 'behind the count', undefined)
      .map((death): Step<World> => [`the worker dies (${death})`, ({ thread }) => thread.die(death)]),
  },
  { weight: 8, arbitrary: fc.constant<Step<World>>(['a worker is started', ({ thread }) => thread.restart()]) },
  {
    weight: 7,
    arbitrary: timeout.map(
      (timeoutMs): Step<World> => [
        `flush within ${timeoutMs} ms`,
        (world) => world.expect(world.engine.flush({ timeoutMs }), 'flush', timeoutMs),
      ],
    ),
  },
  {
    weight: 3,
    arbitrary: timeout.map(
      (timeoutMs): Step<World> => [`park within ${timeoutMs} ms`, (world) => world.park(timeoutMs)],
    ),
  },
  {
    weight: 4,
    arbitrary: user.map(
      (who): Step<World> => [
        `logger.flush ${who}`,
        (world) => world.expect(new Promise<void>((done) => world.streams[who]!.stream.flush(() => done())), 'flush'),
      ],
    ),
  },
  {
    weight: 2,
    arbitrary: user.map((who): Step<World> => [`logger.end ${who}`, ({ streams }) => streams[who]!.stream.end()]),
  },
  {
    weight: 2,
    arbitrary: user.map(
      (who): Step<World> => [`release ${who}`, (world) => world.expect(world.trackers[who]!.lease.release(), 'close')],
    ),
  },
  {
    weight: 2,
    arbitrary: timeout.map(
      (timeoutMs): Step<World> => [
        `close within ${timeoutMs} ms`,
        (world) => world.expect(world.engine.close({ timeoutMs }), 'close'),
      ],
    ),
  },
  { weight: 1, arbitrary: fc.constant<Step<World>>(['no worker can be started', (world) => world.forbid()]) },
  { weight: 1, arbitrary: fc.constant<Step<World>>(['the process ends', (world) => world.end()]) },
  { weight: 2, arbitrary: fc.constant<Step<World>>(['before the end', (world) => world.beforeEnd()]) },
  {
    weight: 10,
    arbitrary: fc
      .constantFrom(0, 10, 1000, 6000)
      .map((ms): Step<World> => [`${ms} ms pass`, (world) => world.clock.advance(ms)]),
  },
)

describe('a hand-off, against its model', () => {
  it('counts every record once, answers every call in time and never throws, in any order of events', async () => {
    const rejections: unknown[] = []
    const hear = (error: unknown) => void rejections.push(error)
    process.on('unhandledRejection', hear)
    await assertModel({
      start: () => new World(),
      step,
      runs: { some: 60, all: 20_000 },
      async end(world) {
        // From here on nothing fails: each record that was neither lost with a worker nor refused is delivered.
        world.thread.restart()
        await world.serve()
        world.check()
        const { thread, engine } = world
        const { queued, inFlight, dropped } = engine.stats()
        if (!world.ended && !thread.impossible) expect({ queued, inFlight }).toEqual({ queued: 0, inFlight: 0 })
        if (!thread.impossible && queued + inFlight + dropped.shutdown === 0) world.checkEnd()
        const closing = engine.close()
        await world.serve()
        // An engine in this thread delivers nothing, and uses all of its time.
        if (thread.impossible) await world.clock.advance(shutdownTimeoutMs)
        const last = await closing
        await engine.flush()
        await engine.park()
        world.check()
        expect({ ...last, queued: 0, inFlight: 0 }).toEqual(last)
        expect(world.clock.holding).toBe(0)
        expect(rejections).toEqual([])
      },
    })
    process.off('unhandledRejection', hear)
  }, 600_000)
})
