import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { TextHead } from '../../src/pipe/frame.js'
import { PipeMemory } from '../../src/pipe/pipe-memory.js'
import { PipeReader } from '../../src/pipe/pipe-reader.js'
import { PipeWriter } from '../../src/pipe/pipe-writer.js'
import { runs } from '../support/full.js'
import { bytesOf, frames, NotingSink, pipeOf, received, type Sent, write } from '../support/pipe.js'

const head: TextHead = { kind: 'line', severity: 2, marks: 0, time: 1, style: 0 }
const lineOf = (text: string): Sent => ({ kind: 'text', head, text })

/** Both ends of a pipe in this thread, and all that should come out of it. */
class World {
  readonly memory: PipeMemory
  readonly writer: PipeWriter
  readonly sink = new NotingSink()
  reader: PipeReader
  /** Frames that are written and not taken, in order. */
  readonly open: Sent[] = []
  /** The beginning of the first open line may be gone. */
  mayBeBroken = false

  constructor(bytes?: number) {
    this.memory = pipeOf(bytes)
    this.writer = new PipeWriter(this.memory)
    this.reader = new PipeReader(this.memory)
  }

  write(sent: Sent): void {
    write(this.writer, sent)
    this.open.push(received(sent))
  }

  take(bytes = Number.POSITIVE_INFINITY): boolean {
    const isDone = this.reader.take(this.sink, bytes)
    for (const got of this.sink.got.splice(0)) {
      const sent = this.open.shift()
      if (got.kind === 'unreadable') {
        expect(this.mayBeBroken).toBe(true)
        expect({ kind: 'text', head: got.head }).toEqual({ ...sent, text: undefined })
      } else expect(got).toEqual(sent)
      this.mayBeBroken = false
    }
    return isDone
  }

  /** A frame is skipped once its reader is gone. */
  skip(): void {
    this.nextReader()
    const head = this.memory.skip()
    if (head === undefined) return
    if (head.kind === 'part') return
    const sent = this.open.shift()!
    this.mayBeBroken = false
    if (sent.kind === 'text') expect(head).toEqual(sent.head)
    else expect(head.kind).toBe(sent.kind)
  }

  nextReader(): void {
    this.reader = new PipeReader(this.memory)
    this.mayBeBroken = true
  }

  /** Bytes of the frames that are open, where each line has one. */
  get bytes(): number {
    return this.open.reduce((sum, sent) => sum + bytesOf(sent), 0)
  }

  takeAll(): void {
    for (let turn = 0; !this.writer.push(0); turn++) {
      expect(turn).toBeLessThan(1000)
      this.take()
    }
    expect(this.take()).toBe(true)
    expect(this.open).toEqual([])
    expect([this.writer.waits, this.writer.bytes]).toEqual([false, 0])
  }
}

/** Any use of both ends. A number: take so many bytes. */
const steps = (most: number) =>
  fc.array(
    fc.oneof(
      { weight: 6, arbitrary: frames(most) },
      { weight: 2, arbitrary: fc.nat(most) },
      { weight: 4, arbitrary: fc.constantFrom('publish', 'push', 'take', 'skip', 'next reader') },
    ),
    { maxLength: 200 },
  )

function use(world: World, step: Sent | number | string): void {
  if (typeof step === 'object') world.write(step)
  else if (typeof step === 'number') world.take(step)
  else if (step === 'publish') world.writer.publish()
  else if (step === 'push') world.writer.push(0)
  else if (step === 'skip') world.skip()
  else if (step === 'take') {
    world.writer.publish()
    world.take()
    if (!world.writer.waits) expect(world.open).toEqual([])
  } else world.nextReader()
}

describe('a pipe', () => {
  it.each([
    { bytes: 2048, most: 5000 },
    { bytes: 16_384, most: 8000 },
    { bytes: 131_072, most: 40_000 },
    { bytes: 1_048_576, most: 300_000 },
  ])('with $bytes bytes gives all frames in order, whatever both ends do', ({ bytes, most }) => {
    fc.assert(
      fc.property(steps(most), (all) => {
        const world = new World(bytes)
        for (const step of all) use(world, step)
        world.takeAll()
      }),
      { numRuns: runs({ some: bytes < 100_000 ? 150 : 25, all: 3000 }) },
    )
  })

  it('shows nothing before it is published', () => {
    fc.assert(
      fc.property(
        fc.array(frames(300), { maxLength: 30 }),
        fc.array(frames(300), { maxLength: 30 }),
        (seen, unseen) => {
          const world = new World()
          for (const sent of seen) world.write(sent)
          world.writer.publish()
          for (const sent of unseen) world.write(sent)
          expect(world.take()).toBe(true)
          expect(world.open).toHaveLength(unseen.length)
          world.takeAll()
        },
      ),
      { numRuns: runs({ some: 100, all: 2000 }) },
    )
  })

  it('publishes lines by itself when 32 KiB are not published', () => {
    const world = new World()
    const head = { kind: 'line', severity: 2, marks: 0, time: 1, style: 0 } as const
    const write = (count: number) => {
      for (let line = 0; line < count; line++) world.write({ kind: 'text', head, text: 'x'.repeat(1000) })
    }
    write(28)
    world.take()
    expect(world.open).toHaveLength(28)
    write(6)
    world.take()
    expect(world.open.length).toBeLessThan(6)
  })

  it('lets values gather up to half a megabyte', () => {
    const world = new World()
    let rings = 0
    world.memory.bells.bell.heard(() => rings++)
    const write = (count: number) => {
      for (let value = 0; value < count; value++) world.write({ kind: 'value', eventId: value, ms: 1 })
    }
    write(20_000)
    expect(rings).toBe(0)
    write(6_000)
    expect(world.open).toHaveLength(26_000)
    world.take()
    expect(world.open.length).toBeLessThan(26_000)
    expect(world.writer.waits).toBe(true)
  })

  it('keeps to the first pages of its ring while the reader follows', () => {
    const world = new World()
    for (let turn = 0; turn < 500; turn++) {
      world.write(lineOf('x'.repeat(turn * 20)))
      world.takeAll()
    }
    const used = world.memory.frames.bytes.findLastIndex((byte) => byte !== 0)
    expect(used).toBeLessThan(150_000)
    expect(used).toBeGreaterThan(60_000)
  })

  it('tells the bytes of the frames that no reader has passed, and whether some had no room in the ring', () => {
    // A number: write so many values. A text of digits: take so many bytes.
    const step = fc.oneof(fc.nat(150), fc.constantFrom('publish', 'push', 'take', 'skip'), fc.nat(1000).map(String))
    const valueBytes = 24
    const room = 99 * valueBytes
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (all) => {
        const world = new World(100 * valueBytes)
        for (const step of all) {
          if (typeof step === 'string') use(world, Number.isNaN(Number(step)) ? step : Number(step))
          else for (let eventId = 0; eventId < step; eventId++) world.write({ kind: 'value', eventId, ms: 1 })
          expect(world.writer.bytes).toBe(world.bytes)
          const isMoved = step === 'publish' || step === 'push'
          if (isMoved || world.bytes > room) expect(world.writer.waits).toBe(world.bytes > room)
        }
      }),
      { numRuns: runs({ some: 200, all: 3000 }) },
    )
  })

  it('tells the bytes of its frames, where frames of any length go round in the ring', () => {
    fc.assert(
      fc.property(steps(250), (all) => {
        const world = new World(4096)
        for (const step of all) {
          use(world, step)
          expect(world.writer.bytes).toBe(world.bytes)
        }
        world.takeAll()
      }),
      { numRuns: runs({ some: 100, all: 3000 }) },
    )
  })

  it('tells no bytes for the end of the ring that it leaves free', () => {
    const world = new World()
    for (let line = 0; line < 200; line++) {
      world.write(lineOf('x'.repeat(1100)))
      expect(world.writer.bytes).toBe(world.bytes)
      world.takeAll()
    }
  })

  it('overwrites nothing after a frame that ends where the ring does', () => {
    const world = new World(2400)
    const values = (count: number) => {
      for (let eventId = 0; eventId < count; eventId++) world.write({ kind: 'value', eventId, ms: count })
      world.writer.publish()
    }
    values(50)
    world.take()
    values(50)
    values(70)
    world.takeAll()
  })

  it('gives a long line whole after one that was dropped within its parts', () => {
    const world = new World(4096)
    world.write(lineOf('x'.repeat(1500)))
    world.writer.publish()
    world.take(1)
    while (world.memory.skip() !== undefined);
    world.open.pop()
    world.write(lineOf('y'.repeat(1500)))
    world.takeAll()
  })

  it('keeps its frames while the sink takes none', () => {
    const memory = pipeOf()
    const writer = new PipeWriter(memory)
    const sink = new NotingSink()
    const taken = sink.taken.bind(sink)
    let most = 1
    sink.taken = () => (sink.got.length < most ? taken() : undefined)
    for (const eventId of [1, 2, 3]) writer.value(eventId, 1)
    writer.publish()
    expect(new PipeReader(memory).take(sink, 1000)).toBe(false)
    expect(sink.got).toHaveLength(1)
    most = 3
    expect(new PipeReader(memory).take(sink, 1000)).toBe(true)
    expect(sink.got).toEqual([1, 2, 3].map((eventId) => ({ kind: 'value', eventId, ms: 1 })))
  })

  it('says with which frame a sink is busy', () => {
    const memory = pipeOf()
    const writer = new PipeWriter(memory)
    const sink = new NotingSink()
    const busy: unknown[] = [memory.busyWith]
    sink.value = () => busy.push(memory.busyWith)
    writer.value(1001, 5)
    writer.publish()
    new PipeReader(memory).take(sink, 1000)
    const head = { kind: 'value', severity: 0, marks: 0, time: 5, style: 0 }
    expect([...busy, memory.busyWith]).toEqual([undefined, head, undefined])
  })

  it('of another version is refused', () => {
    const memory = PipeMemory.create(1024)
    expect(PipeMemory.open(memory)).toBeDefined()
    new Int32Array(memory)[0] = 2
    expect(PipeMemory.open(memory)).toBe(undefined)
    expect(PipeMemory.open(new SharedArrayBuffer(16))).toBe(undefined)
  })
})
