import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FreshLog } from '../../src/delivery/fresh-log.js'
import { RecordBatch } from '../../src/delivery/record-batch.js'
import type { HeldRecord } from '../../src/delivery/record-queue.js'
import { KeyWriter } from '../../src/log/idempotency-key.js'
import type { Severity } from '../../src/records/level.js'
import { assertModel, type Step } from '../support/model.js'

const keys = new KeyWriter('k')

interface Expected {
  readonly sequence: number
  readonly severity: Severity
  readonly body: string
  readonly generation: number
}

/** A log, and the same records in a list. */
class World {
  readonly log = new FreshLog((sequence) => keys.textOf(sequence))
  list: Expected[] = []
  readonly batch = new RecordBatch(keys)
  #sequence = 0
  /** The records that have a place in the store. */
  readonly places = new Map<number, object>()

  add(severity: Severity, bytes: number, { kept = false } = {}): void {
    const sequence = this.#sequence++
    const body = `${sequence}`.padEnd(bytes, 'x').slice(0, bytes)
    const { memory, at } = this.log.room(bytes + 10)
    memory.write(body, at)
    const generation = sequence >> 3
    this.log.stage(bytes, severity, sequence, generation)
    if (kept) {
      const place = {}
      this.log.staged.place = place
      this.places.set(sequence, place)
    }
    this.log.commit()
    this.list.push({ sequence, severity, body, generation })
  }

  /** The record is the one that is expected, which leaves the list. */
  gone(record: HeldRecord | undefined, expected: Expected | undefined): void {
    expect(record && plain(record)).toEqual(expected)
    if (expected === undefined) return
    expect(record!.place).toBe(this.places.get(expected.sequence))
    expect(record!.idempotencyKey).toBe(keys.textOf(expected.sequence))
    this.list = this.list.filter((each) => each !== expected)
  }

  cut(most: number, before?: number): void {
    this.batch.clear()
    this.log.cut(this.batch, most, before)
    const rest = this.list.filter(({ sequence }) => before === undefined || sequence < before)
    const taken = rest.slice(0, this.batch.length)
    const indexes = taken.map((_, index) => index)
    expect(indexes.map((index) => plain(this.batch.take(index)))).toEqual(taken)
    expect(indexes.map((index) => this.batch.placeOf(index))).toEqual(
      taken.map(({ sequence }) => this.places.get(sequence)),
    )
    const bytes = taken.reduce((sum, { body }) => sum + body.length, 0)
    if (taken.length > 0) expect(this.batch.bytesFrom(0, taken.length)).toBe(bytes)
    // Fewer than wanted only where the next one does not fit.
    const next = rest[taken.length]
    if (taken.length < most && next !== undefined) expect(bytes + next.body.length).toBeGreaterThan(262_144)
    this.list = this.list.filter((each) => !taken.includes(each))
  }

  check(): void {
    expect(this.log.length).toBe(this.list.length)
    expect(this.log.oldest).toBe(this.list[0]?.sequence ?? Number.POSITIVE_INFINITY)
    expect(this.log.newest).toBe(this.list.at(-1)?.sequence ?? Number.NEGATIVE_INFINITY)
    for (let severity = 0 as Severity; severity < 7; severity++) {
      const own = this.list.filter((each) => each.severity === severity)
      expect(this.log.lengthOf(severity)).toBe(own.length)
      expect(this.log.bytesOf(severity)).toBe(own.reduce((sum, { body }) => sum + body.length, 0))
      expect(this.log.oldestOf(severity)).toBe(own[0]?.sequence ?? Number.POSITIVE_INFINITY)
    }
  }
}

function plain({ sequence, severity, body, generation }: HeldRecord): Expected {
  return { sequence, severity, body, generation }
}

const severity = fc.integer({ min: 0, max: 6 }) as fc.Arbitrary<Severity>
/** Mostly small; some fill an arena, or are larger than any. */
const size = fc.oneof(
  { weight: 20, arbitrary: fc.integer({ min: 1, max: 400 }) },
  { weight: 2, arbitrary: fc.integer({ min: 4000, max: 40_000 }) },
  { weight: 1, arbitrary: fc.constantFrom(300_000, 1_048_570, 1_100_000) },
)

const steps: fc.Arbitrary<Step<World>> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(severity, size, fc.integer({ min: 1, max: 200 }), fc.boolean()).map(
      ([level, bytes, count, kept]): Step<World> => [
        `add ${count} of severity ${level} with ${bytes} bytes${kept ? ', kept' : ''}`,
        (world) => {
          for (let each = 0; each < (bytes > 4000 ? 1 : count); each++) {
            world.add(((level + each) % 7) as Severity, bytes, { kept })
          }
        },
      ],
    ),
  },
  {
    weight: 4,
    arbitrary: fc.integer({ min: 1, max: 300 }).map((most): Step<World> => [`cut ${most}`, (world) => world.cut(most)]),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.nat(300), fc.nat(300)).map(
      ([most, offset]): Step<World> => [
        `cut ${most} before the record at ${offset}`,
        (world) => {
          const before = world.list[offset]?.sequence
          if (before !== undefined) world.cut(most, before)
        },
      ],
    ),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(severity, fc.integer({ min: 1, max: 200 })).map(
      ([level, count]): Step<World> => [
        `shed ${count} of severity ${level}`,
        (world) => {
          for (let each = 0; each < count; each++) {
            world.gone(
              world.log.takeOldestOf(level),
              world.list.find((record) => record.severity === level),
            )
          }
        },
      ],
    ),
  },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 1, max: 50 }).map(
      (count): Step<World> => [
        `take the ${count} oldest and newest`,
        (world) => {
          for (let each = 0; each < count; each++) {
            world.gone(world.log.takeOldest(), world.list[0])
            world.gone(world.log.takeNewest(), world.list.at(-1))
          }
        },
      ],
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.nat(400), fc.integer({ min: 1, max: 4 })).map(
      ([most, modulus]): Step<World> => [
        `visit ${most}, of which one in ${modulus} leaves`,
        (world) => {
          const bySeverity = [...world.list].sort((a, b) => a.severity - b.severity || a.sequence - b.sequence)
          const visited: Expected[] = []
          world.log.visit(most, (record) => {
            visited.push(plain(record))
            return record.sequence % modulus === 0
          })
          expect(visited).toEqual(bySeverity.slice(0, most))
          const left = new Set(
            visited.filter(({ sequence }) => sequence % modulus === 0).map(({ sequence }) => sequence),
          )
          world.list = world.list.filter(({ sequence }) => !left.has(sequence))
        },
      ],
    ),
  },
)

describe('the log of fresh records', () => {
  it('gives back every record once, in order, however it is taken', async () => {
    await assertModel({
      start: () => new World(),
      step: steps,
      end: async (world) => {
        while (world.list.length > 0) world.cut(64)
        world.check()
      },
      runs: { some: 50, all: 1000 },
    })
  }, 120_000)
})
