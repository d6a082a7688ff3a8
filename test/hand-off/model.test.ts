import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Ledger, settledTotal } from '../../src/delivery/ledger.js'
import { thisMachine } from '../../src/engine/machine.js'
import { HandOff } from '../../src/hand-off/hand-off.js'
import { SluicePinoStream } from '../../src/loggers/pino-stream.js'
import { configure } from '../../src/process/configure.js'
import type { EngineLease } from '../../src/process/engine-lease.js'
import { Tracker } from '../../src/tracking/tracker.js'
import { FakeThread } from '../support/fake-thread.js'
import { assertModel, type Step } from '../support/model.js'
import { settle, VirtualClock } from '../support/virtual-clock.js'

// The specification of a hand-off as a model: the accepted records, the delivered ones, and any call at any time.

const shutdownTimeoutMs = 5000

/** One of several users of an engine. The last one that releases it closes it. */
class SharedLease implements EngineLease {
  readonly engine: HandOff
  readonly options
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
  accepted = 0
  nextValue = 0
  ended = false
  readonly answers: { readonly deadline: number; settled: boolean }[] = []

  constructor() {
    const { options } = configure(
      { url: 'http://127.0.0.1:1', apiKey: 'k', bucket: 'b', shutdownTimeoutMs, maxQueueBytes: 20_000 },
      'values',
    )
    const lanes = [
      { kind: 'logs', bucket: 'b' },
      { kind: 'values', bucket: 'b' },
    ] as const
    this.thread = new FakeThread(lanes)
    this.engine = new HandOff(options, {
      thread: this.thread,
      machine: { ...thisMachine, clock: this.clock },
      print: () => {},
    })
    const users = new Set<SharedLease>()
    const leases = [0, 1, 2, 3].map(() => new SharedLease(this.engine, users))
    this.trackers = leases.slice(0, 2).map((lease) => ({ lease, tracker: new Tracker(lease) }))
    this.streams = leases.slice(2).map((lease) => ({ lease, stream: new SluicePinoStream(lease) }))
  }

  track(user: number): void {
    this.trackers[user]!.tracker.track(this.nextValue++)
    this.accepted++
  }

  log(user: number, length: number): void {
    this.streams[user]!.stream.write(`{"level":30,"msg":"${'x'.repeat(length)}"}\n`)
    this.accepted++
  }

  expect(answer: Promise<unknown>, timeoutMs: number): void {
    const expected = { deadline: this.clock.now() + timeoutMs + 400, settled: false }
    this.answers.push(expected)
    void answer.then(() => {
      expected.settled = true
    })
  }

  /** The worker does all of its work. */
  async serve(): Promise<void> {
    for (let round = 0; round < 3; round++) {
      await settle()
      this.thread.take(Number.POSITIVE_INFINITY)
      this.thread.deliver(Number.POSITIVE_INFINITY)
      this.thread.answer()
    }
    await settle()
  }

  end(): void {
    if (this.ended) return
    this.ended = true
    const step = this.engine.endSync({ timeoutMs: 0 })
    for (let steps = 0; !step(0); steps++) expect(steps).toBeLessThan(10)
  }

  check(): void {
    const ledger = this.engine.stats()
    expect(addsUp(ledger)).toBe(true)
    expect(ledger.accepted).toBe(this.accepted)
    expect(ledger.delivered).toBe(this.thread.delivered.length)
    for (const count of [ledger.queued, ledger.inFlight, ...Object.values(ledger.dropped)]) {
      expect(count).toBeGreaterThanOrEqual(0)
    }
    const values = this.thread.delivered.filter((line) => line.startsWith('v'))
    expect(new Set(values).size).toBe(values.length)
    for (const { deadline, settled } of this.answers) if (this.clock.now() > deadline) expect(settled).toBe(true)
  }
}

const addsUp = (ledger: Ledger) =>
  ledger.accepted === settledTotal(ledger) + ledger.spooled + ledger.queued + ledger.inFlight

const user = fc.constantFrom(0, 1)
const timeout = fc.constantFrom(undefined, 0, 100, 5000)

const step: fc.Arbitrary<Step<World>> = fc.oneof(
  { weight: 20, arbitrary: user.map((who): Step<World> => [`track ${who}`, (world) => world.track(who)]) },
  {
    weight: 20,
    arbitrary: fc
      .tuple(user, fc.constantFrom(1, 10, 3000, 40_000))
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
      .constantFrom('line' as const, 'disk' as const, undefined)
      .map((at): Step<World> => [`the worker dies (${at})`, ({ thread }) => thread.die(at)]),
  },
  { weight: 8, arbitrary: fc.constant<Step<World>>(['a worker is started', ({ thread }) => thread.restart()]) },
  {
    weight: 10,
    arbitrary: fc
      .tuple(fc.constantFrom('flush' as const, 'park' as const), timeout)
      .map(
        ([mode, timeoutMs]): Step<World> => [
          `${mode} within ${timeoutMs} ms`,
          (world) => world.expect(world.engine[mode]({ timeoutMs }), timeoutMs ?? shutdownTimeoutMs),
        ],
      ),
  },
  {
    weight: 4,
    arbitrary: user.map(
      (who): Step<World> => [
        `logger.flush ${who}`,
        (world) =>
          world.expect(new Promise<void>((done) => world.streams[who]!.stream.flush(() => done())), shutdownTimeoutMs),
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
      (who): Step<World> => [
        `release ${who}`,
        (world) => world.expect(world.trackers[who]!.lease.release(), shutdownTimeoutMs),
      ],
    ),
  },
  {
    weight: 2,
    arbitrary: timeout.map(
      (timeoutMs): Step<World> => [
        `close within ${timeoutMs} ms`,
        (world) => world.expect(world.engine.close({ timeoutMs }), 5000),
      ],
    ),
  },
  { weight: 1, arbitrary: fc.constant<Step<World>>(['the process ends', (world) => world.end()]) },
  { weight: 2, arbitrary: fc.constant<Step<World>>(['before the end', ({ engine }) => engine.beforeEnd()]) },
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
        const { queued, inFlight } = world.engine.stats()
        if (!world.ended) expect({ queued, inFlight }).toEqual({ queued: 0, inFlight: 0 })
        const closing = world.engine.close()
        await world.serve()
        const last = await closing
        await world.engine.flush()
        await world.engine.park()
        world.check()
        expect({ ...last, queued: 0, inFlight: 0 }).toEqual(last)
        expect(world.clock.holding).toBe(0)
        expect(rejections).toEqual([])
      },
    })
    process.off('unhandledRejection', hear)
  }, 600_000)
})
