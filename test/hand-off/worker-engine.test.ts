import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Ask, ControlBlock } from '../../src/control/control-block.js'
import type { Ledger } from '../../src/delivery/ledger.js'
import { LedgerBook } from '../../src/delivery/ledger-book.js'
import { WorkerPosition } from '../../src/engine/worker-position.js'
import { enginePlan, type WorkerMessage } from '../../src/hand-off/protocol.js'
import { WorkerEngine } from '../../src/hand-off/worker-engine.js'
import { PipeMemory } from '../../src/pipe/pipe-memory.js'
import { PipeWriter } from '../../src/pipe/pipe-writer.js'
import { configure } from '../../src/process/configure.js'
import { delivered, FaultServer } from '../support/fault-server.js'
import { lanes, machineWith } from '../support/hand-off.js'
import { settle, VirtualClock } from '../support/virtual-clock.js'

let server: FaultServer
let spoolDir: string
beforeEach(async () => {
  server = await FaultServer.start(() => delivered)
  spoolDir = mkdtempSync(join(tmpdir(), 'sluice-worker-engine-'))
})
afterEach(async () => {
  await server.close()
  rmSync(spoolDir, { recursive: true })
})

/** The memory of an engine, with the application's ends of it. */
function start({
  spools = false,
  diskIsStalled = false,
  url = server.url,
  more = {},
  styles = [] as string[],
  pipeBytes = 65_536,
} = {}) {
  const { options } = configure({ url, apiKey: 'k', bucket: 'b', ...(spools ? { spoolDir } : {}), ...more }, 'values')
  const book = new LedgerBook(lanes)
  const clock = new VirtualClock()
  const machine = machineWith(clock, () => {})
  const pipe = PipeMemory.create(pipeBytes)
  const pipeMemory = PipeMemory.open(pipe, machine.bell)!
  const writer = new PipeWriter(pipeMemory)
  const drains = ControlBlock.memory()
  const block = new ControlBlock(drains, machine)
  const posted: WorkerMessage[] = []
  const closed = vi.fn()
  const disk = { watched: false, answers: () => {} }
  const whenDiskAnswers = (_folder: string, answers: () => void) => {
    Object.assign(disk, { watched: true, answers })
    return () => {
      disk.watched = false
    }
  }
  const halt = { isHalted: false }
  const open = () => {
    const memory = { memory: book.memory, pipe, drains }
    new WorkerEngine({
      engine: 7,
      plan: enginePlan(options, { ...memory, styles, diskIsStalled }),
      position: new WorkerPosition(),
      post: (message) => void posted.push(message),
      isHalted: () => halt.isHalted,
      closed,
      machine: { ...machine, whenDiskAnswers },
    })
  }
  let written = 0
  const track = (...events: number[]) => {
    for (const event of events) writer.value(event, 5)
    written += events.length
    writer.publish()
  }
  /** The ledger as each drain was answered. */
  const answered: Ledger[] = []
  /** @returns the number of the drain */
  const ask = (mode: Ask['mode'], timeoutMs = 5000, after = written) => {
    const drain = block.ask({ mode, until: clock.now() + timeoutMs, brief: false, after })
    void block.whenAnswered(drain, Number.MAX_SAFE_INTEGER).then(() => answered.push(book.read()))
    return drain
  }
  const whenAnswered = (drain: number) =>
    vi.waitFor(() => expect(block.isAnswered(drain)).toBe(true), { timeout: 10_000 }).then(settle)
  return {
    answered,
    ask,
    block,
    book,
    clock,
    closed,
    disk,
    halt,
    open,
    pipeMemory,
    posted,
    track,
    whenAnswered,
    writer,
  }
}

const events = () => server.taken.map((body) => (JSON.parse(body) as { eventId: number }).eventId).sort()

describe('an engine in the worker', () => {
  it('takes the records that came before it was opened, and answers the drain that waits for them', async () => {
    const { answered, ask, book, open, track, whenAnswered, writer } = start({ styles: ['{"messageKey":"text"}'] })
    writer.text({ kind: 'line', severity: 2, marks: 0, time: 0, style: 0 }, '{"level":30,"text":"hello"}')
    track(1001)
    const drain = ask('flush', 5000, 2)
    open()
    expect(book.taken).toBe(2)
    await whenAnswered(drain)
    expect(answered).toMatchObject([{ accepted: 2, delivered: 2 }])
    const bodies = server.taken.map((body) => JSON.parse(body) as { message?: string; eventId?: number })
    expect(bodies.map(({ message, eventId }) => message ?? eventId).sort()).toEqual([1001, 'hello'])
  })

  it('takes those that come later when the bell rings', async () => {
    const { ask, book, open, track, whenAnswered } = start()
    open()
    track(1, 2)
    expect(book.taken).toBe(2)
    track(3)
    await whenAnswered(ask('flush'))
    expect(events()).toEqual([1, 2, 3])
  })

  it('looks for what no bell told of, sends it, and rests when a look finds nothing', async () => {
    const { book, clock, open, pipeMemory, track, writer } = start()
    open()
    expect(pipeMemory.get('rests')).toBe(1)
    track(1)
    expect(pipeMemory.get('rests')).toBe(0)
    writer.value(2, 5)
    writer.offer()
    expect(book.taken).toBe(1)
    await clock.advance(200)
    expect(book.taken).toBe(2)
    await vi.waitFor(() => expect(events()).toEqual([1, 2]))
    await clock.advance(200)
    expect(pipeMemory.get('rests')).toBe(1)
    writer.value(3, 5)
    writer.offer()
    expect(book.taken).toBe(3)
  })

  it('does not let what a look finds wait for a lane that has sent in the meantime', async () => {
    const { ask, clock, open, track, whenAnswered, writer } = start()
    open()
    track(1)
    await clock.advance(100)
    track(2)
    await whenAnswered(ask('flush'))
    writer.value(3, 5)
    writer.offer()
    await clock.advance(100)
    await vi.waitFor(() => expect(events()).toEqual([1, 2, 3]))
  })

  it('rests at once with a spool: a record is on disk at the end of its turn', () => {
    const { book, open, track, writer } = start({ spools: true })
    open()
    track(1)
    writer.value(2, 5)
    writer.offer()
    expect(book.taken).toBe(2)
  })

  it('takes many records in turns: the event loop goes on between them', async () => {
    const { book, open, track } = start({ url: 'http://127.0.0.1:1', pipeBytes: 1_048_576 })
    track(...Array.from({ length: 20_000 }, (_, event) => event))
    open()
    const turns = [book.taken]
    for (let before = 0; before < book.taken && book.taken < 20_000; ) {
      before = book.taken
      await settle()
      turns.push(book.taken - before)
    }
    expect(book.taken).toBe(20_000)
    expect(turns[0]).toBeLessThan(6000)
    expect(turns.slice(0, -1)).toEqual(turns.slice(1).map(() => turns[0]))
  })

  it('takes the records of the worker before it that has died, except for the one that its ledger had counted', async () => {
    const { ask, book, open, pipeMemory, track, whenAnswered } = start()
    track(1, 2)
    pipeMemory.set('taken', 0)
    pipeMemory.set('busy', pipeMemory.get('read') + 1)
    book.move(1, 'taken', 'worker-failed', 1, 0)
    open()
    await whenAnswered(ask('flush'))
    expect(events()).toEqual([2])
    expect(book.read()).toMatchObject({ accepted: 2, delivered: 1, dropped: { 'worker-failed': 1 } })
  })

  it('takes nothing, and begins no drain, once its thread is halted', async () => {
    const { ask, block, book, clock, halt, open, track } = start()
    open()
    halt.isHalted = true
    track(1)
    const drains = [ask('flush', 300, 0), ask('flush', 300, 1)]
    await clock.advance(300)
    expect(book.taken).toBe(0)
    expect(drains.map((drain) => block.isAnswered(drain))).toEqual([false, false])
  })

  it('takes nothing more of a batch in whose middle its thread is halted', async () => {
    const { book, halt, open, track } = start({ url: 'http://127.0.0.1:1' })
    open()
    Object.defineProperty(halt, 'isHalted', { get: () => book.taken >= 2 })
    track(1, 2, 3, 4)
    await settle()
    expect(book.taken).toBe(2)
  })
})

describe('a drain of an engine in the worker', () => {
  it('waits for the records that come before it', async () => {
    const { answered, ask, block, open, track, whenAnswered } = start()
    open()
    const drain = ask('flush', 5000, 2)
    track(1)
    await vi.waitFor(() => expect(server.taken).toHaveLength(1))
    await settle()
    expect(block.isAnswered(drain)).toBe(false)
    track(2)
    await whenAnswered(drain)
    expect(answered).toMatchObject([{ accepted: 2, delivered: 2 }])
  })

  it.each(['flush', 'park', 'close'] as const)(
    'is answered at its deadline, whatever the service does: %s',
    async (mode) => {
      const { answered, ask, clock, open, track, whenAnswered } = start()
      server.script = () => ({ type: 'silence' })
      open()
      track(1001)
      const drain = ask(mode, 300)
      await clock.advance(299)
      expect(answered).toEqual([])
      await clock.advance(1)
      await whenAnswered(drain)
      expect(answered).toMatchObject([{ accepted: 1, delivered: 0 }])
    },
  )

  it.each(['flush', 'park', 'close'] as const)(
    'is made at its deadline even where its records have not come: %s',
    async (mode) => {
      const { ask, block, clock, closed, open, track, whenAnswered } = start({ url: 'http://127.0.0.1:1' })
      open()
      track(1001)
      const drain = ask(mode, 300, 2)
      await clock.advance(299)
      expect(block.isAnswered(drain)).toBe(false)
      await clock.advance(1)
      await whenAnswered(drain)
      expect(closed).toHaveBeenCalledTimes(mode === 'close' ? 1 : 0)
    },
  )

  it('is made with the time that is left when its engine is opened', async () => {
    const { answered, ask, clock, open, track, whenAnswered } = start()
    server.script = () => ({ type: 'silence' })
    track(1001)
    const drain = ask('park', 1000)
    await clock.advance(900)
    open()
    await clock.advance(99)
    expect(answered).toEqual([])
    await clock.advance(1)
    await whenAnswered(drain)
  })

  it('closes the engine when it is a close, and tells so: then come no records, and nobody waits for a drain', async () => {
    const { ask, block, book, clock, closed, open, track, whenAnswered } = start()
    open()
    await whenAnswered(ask('flush'))
    expect(closed).not.toHaveBeenCalled()
    track(1)
    await whenAnswered(ask('close'))
    expect(closed).toHaveBeenCalledOnce()
    expect(book.read()).toMatchObject({ accepted: 1, delivered: 1, lanes: [{ state: 'closed' }, { state: 'closed' }] })
    track(2)
    expect(block.isAnswered(ask('flush', 10))).toBe(true)
    await clock.advance(10)
    expect(book.taken).toBe(1)
  })

  it('takes no more records from the moment at which the close begins', async () => {
    const { ask, book, clock, open, track, whenAnswered } = start()
    server.script = () => ({ type: 'silence' })
    open()
    track(1)
    const close = ask('close', 300)
    track(2)
    await clock.advance(300)
    await whenAnswered(close)
    expect(book.read()).toMatchObject({ accepted: 1, dropped: { shutdown: 1, closed: 0 } })
  })

  it.each(['flush', 'close'] as const)('leaves no timer when it is over: %s', async (mode) => {
    const { ask, clock, open, whenAnswered } = start()
    open()
    const before = clock.timers
    const waits = mode === 'close' ? ask('flush', 60_000, 1) : undefined
    await whenAnswered(ask(mode))
    if (waits !== undefined) await whenAnswered(waits)
    expect(clock.timers).toBe(before)
  })

  it('that waits with a close is answered with it', async () => {
    const { ask, block, clock, open, track, whenAnswered } = start()
    server.script = () => ({ type: 'silence' })
    open()
    track(1)
    const flush = ask('flush', 60_000)
    const close = ask('close', 300)
    const again = ask('close', 60_000)
    await clock.advance(300)
    await whenAnswered(close)
    expect([flush, again].map((drain) => block.isAnswered(drain))).toEqual([true, true])
  })

  it.each(['flush', 'close'] as const)(
    'that no engine before it has answered is made by this one: %s',
    async (mode) => {
      const { answered, ask, closed, open, track, whenAnswered } = start()
      track(1001)
      const drain = ask(mode)
      open()
      await whenAnswered(drain)
      expect(answered).toMatchObject([{ accepted: 1, delivered: 1 }])
      expect(closed).toHaveBeenCalledTimes(mode === 'close' ? 1 : 0)
    },
  )

  it('that closes the engine at its deadline leaves the records that it has not taken in the pipe', async () => {
    const { ask, book, clock, open, track, whenAnswered } = start({ url: 'http://127.0.0.1:1' })
    open()
    const close = ask('close', 300, 5)
    track(1)
    await clock.advance(300)
    track(2, 3)
    await whenAnswered(close)
    expect(book.read()).toMatchObject({ accepted: 1, dropped: { shutdown: 1, closed: 0 } })
  })
})

describe('the spool of an engine in the worker', () => {
  it('is not used where its disk has stalled, until that disk answers', async () => {
    const { ask, book, disk, open, track, whenAnswered } = start({ spools: true, diskIsStalled: true })
    open()
    track(1001)
    await settle()
    expect(readdirSync(spoolDir)).toEqual([])
    disk.answers()
    track(1002)
    await settle()
    expect(readdirSync(spoolDir, { recursive: true }).join()).toContain('.ndjson')
    await whenAnswered(ask('close'))
    expect(book.read()).toMatchObject({ accepted: 2, delivered: 2 })
    expect(disk.watched).toBe(false)
  })

  it('has its stalled disk watched until the engine is closed, and a flush ends no watch', async () => {
    const { ask, disk, open, whenAnswered } = start({ spools: true, diskIsStalled: true })
    open()
    await whenAnswered(ask('flush'))
    expect(disk.watched).toBe(true)
    await whenAnswered(ask('close'))
    expect(disk.watched).toBe(false)
  })

  it('whose disk has stalled is watched no more where the engine is closed as soon as it is opened', async () => {
    const { ask, disk, open, whenAnswered } = start({ spools: true, diskIsStalled: true })
    const close = ask('close')
    open()
    await whenAnswered(close)
    expect(disk.watched).toBe(false)
  })

  it('whose disk has answered so far is not watched', () => {
    const { disk, open } = start({ spools: true })
    open()
    expect(disk.watched).toBe(false)
  })
})

describe('the news of an engine in the worker', () => {
  it('say what the service rejects', async () => {
    const { ask, open, posted, track, whenAnswered } = start()
    server.script = () => ({ type: 'answer', status: 400, body: '{"result":false,"errors":[]}' })
    open()
    track(1001)
    await whenAnswered(ask('flush'))
    expect(posted[0]).toMatchObject({
      engine: 7,
      news: {
        type: 'rejected',
        lane: { kind: 'values', bucket: 'b' },
        about: { status: 400, body: expect.stringContaining('"eventId":1001') },
      },
    })
  })

  it('say once in a turn that records were dropped: their numbers are in the ledger', async () => {
    const { ask, book, open, posted, track, whenAnswered } = start({ more: { maxQueueRecords: 10 } })
    open()
    track(...Array.from({ length: 50 }, (_, event) => event))
    await whenAnswered(ask('flush'))
    expect(posted).toEqual([{ engine: 7, news: { type: 'dropped' } }])
    expect(book.read().lanes[1]).toMatchObject({ delivered: 10, dropped: { 'queue-full': 40 } })
  })

  it('say nothing of the records that its close drops: the application’s side does', async () => {
    const { ask, book, clock, open, posted, track, whenAnswered } = start({ url: 'http://127.0.0.1:1' })
    open()
    track(1001)
    const close = ask('close', 300)
    await clock.advance(300)
    await whenAnswered(close)
    expect(book.read().dropped.shutdown).toBe(1)
    expect(posted.filter(({ news }) => news.type !== 'unreachable')).toEqual([])
  })
})
