import { describe, expect, it } from 'vitest'
import { answers } from '../support/scripted-sender.js'
import { record, setUpWorld, World } from './world.js'

const { delivered, refused, reset, failed } = answers

describe('a request on a connection that may be lost', () => {
  it('is made again after half a second, for the records that have no answer, on another connection', () => {
    const { world, burst } = setUpWorld()
    burst(3)
    world.woken(0)
    world.answer(0, 1 / 3, failed)
    const before = world.ledger
    world.wait(499)
    expect(world.sends).toHaveLength(1)
    world.wait(1)
    const [first, second] = world.sends
    expect([second!.flight === first!.flight, [...second!.left]]).toEqual([true, [1, 2]])
    expect(second!.batch).toMatchObject({ length: 2, connection: 'lively', probe: false })
    expect(second!.batch.textOf(0).body).toBe(first!.batch.textOf(1).body)
    expect(world.ledger).toMatchObject({
      inFlight: before.inFlight,
      retries: before.retries + 2,
      ambiguousRetries: before.ambiguousRetries + 2,
      requests: before.requests + 2,
    })
    world.wait(5000)
    expect(world.sends).toHaveLength(2)
    // The break of one of the two says nothing.
    world.end(0, reset)
    expect(world.ledger.inFlight).toBe(before.inFlight)
    world.end(0, delivered)
    expect(world.ledger).toMatchObject({ inFlight: 0, queued: 1 })
    world.recover()
  })

  it('waits with its lane for a disk that does not answer', () => {
    const { world, logs } = setUpWorld()
    logs(1)
    world.woken(0)
    world.wait(400)
    world.isDiskSlow = true
    logs(1)
    world.wait(999)
    expect(world.sends).toHaveLength(1)
    world.wait(1)
    expect(world.sends).toHaveLength(3)
    world.recover()
  })

  it('is made once where the service may take it twice', () => {
    const { world, burst } = setUpWorld({ isRepeatable: false })
    burst(3)
    world.woken(0)
    world.wait(9000)
    expect(world.sends).toHaveLength(1)
    world.recover()
  })

  it('is a test of the service again where it was one', () => {
    const { world, logs } = setUpWorld()
    logs(100)
    const batches = world.sends.length
    world.wait(2600)
    expect(world.sends.slice(batches).map(({ batch }) => batch)).toMatchObject([{ length: 1, probe: true }])
    world.woken(batches)
    world.wait(500)
    expect(world.sends.slice(batches + 1).map(({ batch }) => batch)).toMatchObject([{ length: 1, probe: true }])
    world.recover()
  })
})

describe('a batch', () => {
  it('serves again when all its records have their outcomes; an idle lane keeps one', () => {
    const { world, burst, logs, answerAll } = setUpWorld()
    const used = () => world.sends.map(({ batch }) => batch)
    logs(1)
    const [first] = used()
    answerAll()
    logs(1)
    expect(used()).toEqual([first])
    burst(40)
    expect(used().length).toBeGreaterThan(3)
    const many = new Set(used())
    while (world.sends.length > 1) world.end(0, delivered)
    burst(40)
    const again = () => used().filter((batch) => many.has(batch)).length
    expect(again()).toBeGreaterThan(2)
    const last = used()
    answerAll()
    burst(40)
    expect(used().filter((batch) => last.includes(batch))).toHaveLength(1)
  })

  it('does not serve again after a second request for its records: the sender may have it still', () => {
    const { world, logs } = setUpWorld()
    logs(1)
    world.woken(0)
    world.wait(500)
    const [lost] = world.sends
    world.end(1, delivered)
    expect(world.ledger.inFlight).toBe(0)
    logs(1)
    expect(world.sends.at(-1)!.batch).not.toBe(lost!.batch)
    world.end(0, reset)
    logs(1)
    expect(world.sends.at(-1)!.batch).not.toBe(lost!.batch)
  })

  it('does not serve again where both requests for its records break', () => {
    const { world, logs } = setUpWorld()
    logs(1)
    world.woken(0)
    world.wait(500)
    const [lost] = world.sends
    world.end(0, reset)
    world.end(0, undefined)
    world.wait(2000)
    expect(world.sends).toHaveLength(1)
    expect(world.sends[0]!.batch).not.toBe(lost!.batch)
    world.recover()
  })
})

describe('records that dead engines have left', () => {
  /** Such records come to a lane that rests. The service takes them at once. */
  function setUpAdopted(count: number) {
    const set = setUpWorld()
    const { world } = set
    const before = world.ledger.delivered
    const startedAt = world.now
    world.adopt(count)
    const takeAll = () => {
      while (world.sends.length > 0) world.end(0, delivered)
      return world.ledger.delivered - before
    }
    const taken = () => world.ledger.delivered - before
    const tickIn = () => world.machine.nextTick - startedAt
    return { ...set, takeAll, taken, tickIn }
  }

  it('go out a hundred in a tenth of a second, though nothing else happens', () => {
    const { world, takeAll, tickIn } = setUpAdopted(150)
    expect(takeAll()).toBe(100)
    expect(tickIn()).toBe(100)
    world.wait(99)
    expect(world.sends).toHaveLength(0)
    world.wait(1)
    expect(takeAll()).toBe(150)
    expect(tickIn()).toBe(Number.POSITIVE_INFINITY)
  })

  it('need no clock where a hundred are all', () => {
    const { takeAll, tickIn } = setUpAdopted(100)
    expect(takeAll()).toBe(100)
    expect(tickIn()).toBe(Number.POSITIVE_INFINITY)
  })

  it('need no clock while the connections are busy, with them or with others', () => {
    const { world, logs, takeAll, tickIn } = setUpAdopted(110)
    expect(tickIn()).toBe(Number.POSITIVE_INFINITY)
    takeAll()
    logs(50)
    expect(world.lanes[0]!.ready).toBeGreaterThan(0)
    // Those that are in flight may have to be tried beside.
    expect(tickIn()).toBe(2500)
    world.wait(200)
    expect(tickIn()).toBe(2500)
    expect(takeAll()).toBe(160)
  })

  it('wait without a clock for the next connection when their time has come', () => {
    const { world, logs, takeAll, tickIn } = setUpAdopted(110)
    takeAll()
    while (world.sends.length < world.lanes[0]!.window.connections) logs(1)
    world.wait(200)
    expect(world.lanes[0]).toMatchObject({ ready: 0, adopted: { ready: 10 } })
    expect(tickIn()).toBe(Number.POSITIVE_INFINITY)
    const others = world.sends.length
    expect(takeAll()).toBe(110 + others)
  })

  it('go out behind all others, on as many connections', () => {
    const { world, logs, taken } = setUpAdopted(1)
    logs(100)
    world.adopt(30)
    const { connections } = world.lanes[0]!.window
    expect(world.sends).toHaveLength(connections)
    while (world.lanes[0]!.ready > 0) world.end(0, delivered)
    expect(taken()).toBeLessThan(101)
    world.end(0, delivered)
    expect(world.sends.length).toBeLessThanOrEqual(world.lanes[0]!.window.connections)
    expect(world.lanes[0]!.adopted.ready).toBeLessThan(30)
  })

  it('test the service where another record may be at fault', () => {
    const { world, logs } = setUpWorld()
    logs(1)
    world.end(0, failed)
    expect(world.sends).toHaveLength(0)
    world.adopt(1)
    expect(world.sends.map(({ batch }) => batch.probe)).toEqual([true])
    world.recover()
  })

  it('are waited for by no drain', () => {
    const { world } = setUpAdopted(100)
    world.drain(5000, { last: false, brief: false })
    expect(world.drains.size).toBe(0)
  })
})

describe('a moment that comes just after a tick', () => {
  it('is not missed, though the next step comes behind it and is about another lane', () => {
    const world = new World({ maxConnections: 8, isRepeatable: false, maxQueueRecords: 10, maxDepth: 1, lingerMs: 0 })
    // The second one waits for the answer to the first one, and goes out as a probe when that takes 2.5 s.
    for (let each = 0; each < 2; each++) world.add(record)
    expect(world.sends).toHaveLength(1)
    // Timers of Node fire up to a millisecond early.
    world.now += 2499.9
    world.step({ type: 'tick' })
    world.now += 0.2
    world.add({ ...record, lane: 1 })
    expect(world.sends).toHaveLength(2)
    world.wait(0)
    expect(world.sends.map(({ batch }) => batch.probe)).toEqual([false, false, true])
    world.recover()
  })
})

describe('a lane that may not send', () => {
  it('needs no clock but that of its gate', () => {
    const { world, logs } = setUpWorld()
    const [lane] = world.lanes
    logs(20)
    while (world.sends.length > 1) world.end(1, refused)
    expect(world.machine.nextTick).toBe(lane!.gate!.probeAt)
    while (lane!.gate!.probeAt - world.now < 2500) {
      world.wait(lane!.gate!.probeAt - world.now)
      world.end(1, refused)
    }
    expect(world.machine.nextTick).toBe(lane!.gate!.probeAt)
    world.recover()
  })

  it('does not keep another one from its probe while its own waits for an answer', () => {
    const world = new World({ maxConnections: 8, isRepeatable: false, maxQueueRecords: 10, maxDepth: 1, lingerMs: 0 })
    const [logs, values] = world.lanes
    world.add({ ...record, lane: 1 })
    world.end(0, refused)
    for (let probe = 0; probe < 3; probe++) {
      world.wait(values!.gate!.probeAt - world.now)
      world.end(0, refused)
    }
    for (let each = 0; each < 2; each++) world.add(record)
    // It may be the record's own fault: the other one is sent at once.
    world.end(0, failed)
    expect(world.sends.map(({ flight }) => flight.lane)).toEqual([logs])
    world.wait(values!.gate!.probeAt - world.now)
    expect(world.sends.map(({ flight }) => flight.lane)).toEqual([logs, values])
    world.recover()
  })
})
