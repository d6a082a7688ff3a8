import { describe, expect, it } from 'vitest'
import { Delivery } from '../../src/delivery/delivery.js'
import type { Outcome, Sender } from '../../src/delivery/sender.js'
import { full } from '../support/full.js'
import { loopOver } from '../support/loop.js'
import { silentObserver } from '../support/observer.js'
import { answers } from '../support/scripted-sender.js'
import { VirtualClock } from '../support/virtual-clock.js'

const engines = 1000
const capMs = 30_000
const outageMs = 600_000
const latencyMs = 5

/** A service that counts the requests of a thousand engines in each second. */
class Service {
  up = true
  delivered = 0
  readonly perSecond: number[] = []
  /** When the outage ended. */
  upSince = 0
  /** By engine, the time from then to its first request. */
  readonly waitedMs: number[] = []
  readonly #clock: VirtualClock

  readonly #outage: Outcome

  constructor(clock: VirtualClock, outage: Outcome) {
    this.#clock = clock
    this.#outage = outage
  }

  sender(): Sender {
    let hasFound = false
    return {
      carriage: () => ({ sender: 'undici', maxDepth: 64 }),
      send: (batch) => {
        if (this.upSince > 0 && !hasFound) {
          hasFound = true
          this.waitedMs.push(this.#clock.now() - this.upSince)
        }
        const second = Math.floor(this.#clock.now() / 1000)
        this.perSecond[second] = (this.perSecond[second] ?? 0) + batch.length
        this.#clock.schedule(() => {
          if (this.up) this.delivered += batch.length
          batch.settle(0, this.up ? answers.delivered : this.#outage, batch.length)
          batch.done()
        }, latencyMs)
      },
      close: async () => {},
    }
  }

  /** Mean and peak of requests per second from one moment to another. */
  load(fromMs: number, toMs: number): { mean: number; peak: number } {
    const seconds = Array.from(
      { length: (toMs - fromMs) / 1000 },
      (_, index) => this.perSecond[fromMs / 1000 + index] ?? 0,
    )
    return { mean: seconds.reduce((sum, each) => sum + each, 0) / seconds.length, peak: Math.max(...seconds) }
  }
}

describe(`a herd of ${engines} engines`, () => {
  const outages = [
    ['out of reach', answers.refused, 3.3],
    // An answer may be the fault of one record: a lane sends another one at once when its gate shuts.
    ['answers 500', answers.failed, 3.7],
  ] as const

  it.runIf(full).each(outages)(
    'goes through an outage of ten minutes (%s) without a storm, and comes back without a stampede',
    async (_, outage, mostAtPeak) => {
      const clock = new VirtualClock()
      const service = new Service(clock, outage)
      let seed = 1
      const random = () => {
        seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
        return seed / 2 ** 31
      }
      const herd = Array.from(
        { length: engines },
        () =>
          new Delivery({
            lanes: [
              { kind: 'logs', bucket: 'b' },
              { kind: 'values', bucket: 'b' },
            ],
            sender: service.sender(),
            loop: loopOver(clock),
            random,
            observer: silentObserver,
            limits: { maxQueueRecords: 100_000, maxQueueBytes: 2 ** 26 },
            maxConnections: 64,
            maxBatch: 64,
            lingerMs: 0,
            requestTimeoutMs: 10_000,
            retry: { baseMs: 500, capMs },
            probe: { baseMs: 30_000, capMs: 300_000 },
            keyPrefix: 'herd',
          }),
      )
      const log = (delivery: Delivery) => delivery.accept(0, { body: '{}', severity: 2 })
      // The worst moment to go down: every engine has just sent something.
      service.up = false
      for (const delivery of herd) log(delivery)
      // Ten lines per engine and minute from then on, and a value now and then.
      for (let elapsed = 0; elapsed < outageMs; elapsed += 6000) {
        await clock.advance(6000)
        for (const delivery of herd) log(delivery)
        for (const delivery of herd) if (random() < 0.1) delivery.accept(1, { body: '{}', severity: 6 })
      }
      const first = service.load(0, 1000)
      const settled = service.load(120_000, outageMs)

      service.up = true
      service.upSince = clock.now()
      await clock.advance(40_000)
      const recovery = service.load(outageMs, outageMs + 40_000)
      const perCap = (engines / capMs) * 1000
      console.log(
        `N = ${engines}, cap ${capMs / 1000} s: first second ${(first.peak / engines).toFixed(2)} N, ` +
          `from minute 3 mean ${(settled.mean / perCap).toFixed(2)} N/cap, peak ${(settled.peak / perCap).toFixed(2)} N/cap; ` +
          `recovery peak ${(recovery.peak / engines).toFixed(2)} N a second`,
      )
      // Full jitter up to the cap: what is left of a wait that is met at any moment is a third of the cap on average.
      expect(service.waitedMs).toHaveLength(engines)
      expect(Math.max(...service.waitedMs)).toBeLessThanOrEqual(capMs)
      const meanMs = service.waitedMs.reduce((sum, each) => sum + each, 0) / engines
      expect(meanMs).toBeGreaterThan(capMs / 3.3)
      expect(meanMs).toBeLessThan(capMs / 2.7)

      expect(first.peak).toBeLessThanOrEqual(3.5 * engines)
      expect(settled.mean).toBeLessThanOrEqual(2.2 * perCap)
      expect(settled.peak).toBeLessThanOrEqual(mostAtPeak * perCap)

      const ledgers = herd.map((delivery) => delivery.stats())
      expect(ledgers.filter(({ queued, inFlight }) => queued + inFlight > 0)).toEqual([])
      expect(service.delivered).toBe(ledgers.reduce((sum, { accepted }) => sum + accepted, 0))
      // Each engine holds more than a hundred records: a stampede would bring them all at once.
      expect(recovery.peak).toBeLessThanOrEqual(10 * engines)
    },
    120_000,
  )
})
