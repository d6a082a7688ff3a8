import { afterEach, describe, expect, it } from 'vitest'
import { tally, word } from '../../support/batch.js'
import { fineConditions } from '../network/conditions.js'
import type { Behaviour, Trouble } from './behaviour.js'
import { receiverTenant } from './shared-receiver.js'
import { numbersTo, requestTimeoutMs, Stage, type StageOptions } from './stage.js'

let stage: Stage | undefined
afterEach(async () => {
  await stage?.end()
  stage = undefined
})

function set(options: StageOptions = {}): Stage {
  stage = new Stage(options)
  return stage
}

/** A stage whose sender pipelines. */
async function warm(options: StageOptions = {}): Promise<Stage> {
  const made = set(options)
  await made.warmUp()
  return made
}

const cutTowards = (number: number) => ({ ...fineConditions, reset: 1, cutAfterBytes: [number, number] as const })

describe('A fine service', () => {
  it('delivers a pipelined batch in two round trips, one of them for the connection', async () => {
    const { sender, service, world } = await warm()
    expect(sender.carriage('logs')).toMatchObject({ sender: 'pipelined', maxDepth: 64 })
    const before = world.now
    expect(tally(await stage!.send(numbersTo(64)))).toEqual({ delivered: 64 })
    expect(world.now - before).toBeLessThan(5)
    expect(service.order.logs).toEqual(['r0', ...numbersTo(64).map((number) => `r${number}`)])
    expect(service.requests).toMatchObject({ taken: 65, logs: 65, values: 0, answered: 65, refused: 0 })
    expect(service.log[64]).toMatchObject({ kind: 'logs', bucket: 'b', recordId: 'r64', status: 201, committed: true })
  })

  it('delivers values, and without pipelining', async () => {
    const { service } = set({ pipelining: 'off' })
    expect(tally(await stage!.send(numbersTo(5), 'values'))).toEqual({ delivered: 5 })
    expect(service.order.values).toEqual(['v1000001', 'v1000002', 'v1000003', 'v1000004', 'v1000005'])
  })

  it.each<Partial<Behaviour>>([
    { form: 'chunked' },
    { form: '1.0' },
    { form: '1.0 keep-alive' },
    { form: '204' },
    { workMs: [5, 50] },
    { workMs: [5, 50], pipelined: 'one by one' },
    { requestsPerConnection: 3, announcesClose: 'max' },
    { announcesIdle: true },
  ])('delivers with %j', async (behaviour) => {
    const { service } = set()
    service.behave(behaviour)
    const left = numbersTo(30)
    for (let rounds = 0; left.length > 0 && rounds < 100; rounds++) {
      const depth = Math.min(8, stage!.sender.carriage('logs').maxDepth)
      const batch = left.splice(0, depth)
      const outcomes = await stage!.send(batch)
      left.push(...batch.filter((_, index) => outcomes[index]!.type !== 'delivered'))
    }
    expect(left).toEqual([])
    expect(service.stored.size).toBe(30)
    expect(stage!.world.failures).toEqual([])
  })

  it.each(['auto', 'off'] as const)('delivers over single bytes, with pipelining %s', async (pipelining) => {
    const { network } = set({ pipelining })
    network.conditions = { ...fineConditions, segmentBytes: 1 }
    expect(tally(await stage!.send(numbersTo(5)))).toEqual({ delivered: 5 })
  })
})

describe('A connection that fails before a request is written', () => {
  it.each([
    ['refused', 'ECONNREFUSED'],
    ['unanswered', 'no connection within'],
    ['unknownName', 'ENOTFOUND'],
    ['nameServerSilent', 'EAI_AGAIN'],
  ] as const)('leaves the records unsent: %s', async (name, reason) => {
    for (const pipelining of ['auto', 'off'] as const) {
      const { network, service, reached } = set({ pipelining })
      network.conditions = { ...fineConditions, [name]: 1 }
      const outcomes = await stage!.send(numbersTo(3))
      expect(tally(outcomes)).toEqual({ unsent: 3 })
      expect(outcomes[0]).toMatchObject({ reason: expect.stringContaining(reason) })
      expect(service.log).toEqual([])
      expect([...reached].length).toBe(1)
      await stage!.end()
      stage = undefined
    }
  })

  it('is as good as new when the network is healed', async () => {
    const { network } = set()
    network.conditions = { ...fineConditions, unanswered: 1 }
    const sent = stage!.begin(numbersTo(3))
    await stage!.world.run(100)
    network.heal()
    await stage!.world.run(100)
    expect(tally(sent.outcomes)).toEqual({ unsent: 3 })
    expect(tally(await stage!.send(numbersTo(3)))).toEqual({ delivered: 3 })
  })
})

describe('A connection that breaks with requests on it', () => {
  it('makes the requests ambiguous that were written and not answered, wherever it breaks', async () => {
    const phases = new Set<string>()
    for (let seed = 1; seed <= 150; seed++) {
      const { network, service, reached, thread } = await warm({ seed, maxConnections: 1 })
      network.resetAll()
      await stage!.world.run(100)
      expect(network.socketsOf(thread)).toEqual([])
      service.behave({ workMs: [0, 40], honoursKeys: false })
      network.conditions = { ...cutTowards(((seed - 1) * 97) % 9000), segmentBytes: 700 }
      const outcomes = await stage!.send(numbersTo(20))
      const words = outcomes.map(word)
      expect(words.join()).toMatch(/^(delivered,?)*(ambiguous,?)*$/)
      for (const [index, each] of words.entries()) {
        if (each === 'delivered') expect(service.stored.has(`r${index + 1}`)).toBe(true)
      }
      for (const name of reached) phases.add(name)
      await stage!.end()
      stage = undefined
    }
    expect([...phases].filter((name) => name.startsWith('network:')).sort()).toEqual([
      'network: all reset',
      'network: reset after an answer',
      'network: reset after commit',
      'network: reset before a request',
      'network: reset in a request',
      'network: reset in work',
      'network: reset towards client',
      'network: reset towards server',
    ])
  })

  it('by a black hole gives ambiguous records after the time-out of a request', async () => {
    const { network, world } = await warm()
    network.blackOut()
    const before = world.now
    const outcomes = await stage!.send(numbersTo(3))
    expect(tally(outcomes)).toEqual({ ambiguous: 3 })
    expect(outcomes[0]).toMatchObject({ backPressure: true })
    expect(world.now - before).toBeGreaterThanOrEqual(requestTimeoutMs)
  })

  it('delivers the same record a second time, unless the service honours keys', async () => {
    for (const honoursKeys of [true, false]) {
      const { service, reached } = set()
      service.behave({ honoursKeys, trouble: { type: 'reset', when: 'after commit' } })
      expect(tally(await stage!.send([1]))).toEqual({ ambiguous: 1 })
      expect(reached).toContain('service: reset after commit')
      service.heal()
      service.behave({ honoursKeys })
      expect(tally(await stage!.send([1]))).toEqual({ delivered: 1 })
      expect(service.stored.get('r1')).toHaveLength(honoursKeys ? 1 : 2)
      expect(service.journal.storedTwice).toBe(honoursKeys ? 0 : 1)
      await stage!.end()
      stage = undefined
    }
  })
})

describe('A backend in trouble', () => {
  const answered = (status: number) => ({ type: 'retry', exchange: 'answered', status })
  const outcomes: [Trouble, object, stored: boolean][] = [
    [{ type: 'status', status: 500 }, answered(500), false],
    [{ type: 'status', status: 503, when: 'after commit' }, answered(503), true],
    [{ type: 'status', status: 429 }, { ...answered(429), backPressure: true }, false],
    [
      { type: 'status', status: 429, retryAfter: { seconds: 7, as: 'seconds' } },
      { ...answered(429), retryAfterMs: 7000 },
      false,
    ],
    [{ type: 'status', status: 401 }, { type: 'pause', scope: 'key', status: 401 }, false],
    [{ type: 'status', status: 403 }, { type: 'pause', scope: 'key', status: 403 }, false],
    [{ type: 'status', status: 404 }, { type: 'pause', scope: 'lane', status: 404 }, false],
    [{ type: 'status', status: 412 }, { type: 'pause', scope: 'lane', status: 412 }, false],
    [{ type: 'status', status: 400 }, { type: 'rejected', status: 400, reason: /is bad/ }, false],
    [{ type: 'html' }, { type: 'pause', status: 200, reason: /not the service/ }, false],
    [{ type: 'result false' }, { type: 'rejected', status: 200 }, false],
    [{ type: 'garbage', when: 'after commit' }, { type: 'retry', exchange: 'ambiguous' }, true],
    [{ type: 'reset', when: 'before commit' }, { type: 'retry', exchange: 'ambiguous' }, false],
    [{ type: 'hang', when: 'before commit' }, { type: 'retry', exchange: 'ambiguous', backPressure: true }, false],
    [{ type: 'hang', when: 'after commit' }, { type: 'retry', exchange: 'ambiguous', backPressure: true }, true],
  ]
  const senders = ['auto', 'off'] as const
  it.each(outcomes.flatMap((each) => senders.map((sender) => [...each, sender] as const)))(
    'by %j gives %j, stored: %s, with pipelining %s',
    async (trouble, { reason, ...outcome }: { reason?: RegExp }, stored, pipelining) => {
      const { service } = set({ pipelining })
      service.behave({ trouble })
      const [got] = await stage!.send([1])
      expect(got).toMatchObject(reason === undefined ? outcome : { ...outcome, reason: expect.stringMatching(reason) })
      expect(service.stored.has('r1')).toBe(stored)
    },
  )

  it('asks by a date not to come before a time, which the log has', async () => {
    const { service, world } = set()
    await world.run(1234)
    service.behave({ trouble: { type: 'status', status: 429, retryAfter: { seconds: 9, as: 'date' } } })
    const [got] = await stage!.send([1])
    const { notBefore, status } = service.log[0]!
    expect([notBefore, status]).toEqual([10_000, 429])
    expect(got).toMatchObject({ retryAfterMs: 10_000 - Math.floor(world.now) })
  })

  it('fails with poison alone', async () => {
    const { service } = await warm()
    service.behave({ poison: ({ recordId }) => (recordId === 'r3' ? { type: 'status', status: 500 } : undefined) })
    expect((await stage!.send(numbersTo(5))).map(word).join()).toBe('delivered,delivered,retry,delivered,delivered')
  })

  it('refuses a wrong key', async () => {
    set({ apiKey: 'another' })
    expect((await stage!.send([1]))[0]).toMatchObject({ type: 'pause', status: 401 })
  })

  it('answers before the body has come, and reads on', async () => {
    const { service, network, reached } = set()
    network.conditions = { ...fineConditions, segmentBytes: 100 }
    service.behave({ trouble: { type: 'status', status: 503 }, answersEarly: true })
    expect(tally(await stage!.send([1]))).toEqual({ retry: 1 })
    expect(reached).toContain('service: early answer')
    service.heal()
    expect(tally(await stage!.send([1]))).toEqual({ delivered: 1 })
  })
})

describe('A backend that closes connections', () => {
  it('with a word makes what was pipelined behind it ambiguous; it may have been stored', async () => {
    const { service } = await warm()
    service.behave({ requestsPerConnection: 3, announcesClose: 'close', honoursKeys: false })
    expect((await stage!.send(numbersTo(5))).map(word).join()).toBe('delivered,delivered,ambiguous,ambiguous,ambiguous')
    expect(service.stored.size).toBe(6)
  })

  it('without a word is learned: the next batches stop at the end that is foreseen', async () => {
    const { service } = await warm()
    service.behave({ requestsPerConnection: 4, pipelined: 'one by one', closesWith: 'reset' })
    const words: string[] = []
    for (let batch = 0; batch < 12; batch++) {
      const numbers = numbersTo(8).map((number) => number + 10 * batch)
      words.push(...(await stage!.send(numbers)).map(word))
    }
    expect(words.filter((each) => each === 'ambiguous').length).toBeLessThan(words.length / 2)
    expect(words.at(-1)).not.toBe('unsent')
  })

  it.each([
    ['in silence', {}],
    ['as announced', { announcesIdle: true }],
    ['with a 408', { goodbye: true }],
  ])('that are idle, %s, harms no record', async (_, about) => {
    const { service, world, reached } = set()
    service.behave({ idleMs: 3000, ...about })
    await stage!.warmUp()
    await world.run(20_000)
    expect(tally(await stage!.send(numbersTo(5)))).toEqual({ delivered: 5 })
    expect(reached.has('service: idle close') || reached.has('service: idle close with 408')).toBe(
      !('announcesIdle' in about),
    )
  })
})

describe('A deploy', () => {
  it('in good order loses nothing, and the other backend takes over', async () => {
    const { service, world } = await warm({ backends: 2 })
    service.behave({ workMs: [1, 5] })
    service.backends[1]!.behaviour = { ...service.backends[1]!.behaviour, echoesKeys: false }
    const words: string[] = []
    for (let batch = 0; batch < 20; batch++) {
      words.push(...(await stage!.send([batch])).map(word))
      if (batch === 5) service.deploy(0, { how: 'graceful', awayMs: 1000 })
      await world.run(50)
    }
    expect(new Set(words)).toEqual(new Set(['delivered']))
    expect(new Set(service.log.slice(-10).map(({ backend }) => backend))).toEqual(new Set([1]))
  })

  it('that is abrupt resets the connections, and what was not committed is not', async () => {
    const { service, world } = await warm()
    service.behave({ workMs: [100, 100] })
    const sent = stage!.begin(numbersTo(5))
    await world.run(20)
    service.deploy(0, { how: 'abrupt', awayMs: 1000 })
    await world.run(500)
    expect(tally(sent.outcomes)).toEqual({ ambiguous: 5 })
    expect(service.stored.size).toBe(1)
    expect((await stage!.send(numbersTo(5))).map(word)).toContain('unsent')
    await world.run(1000)
    expect(tally(await stage!.send(numbersTo(5)))).toEqual({ delivered: 5 })
  })

  it('of all backends is answered with 503 by a balancer that speaks HTTP', async () => {
    const { service } = set({ whenEmpty: '503' })
    service.deploy(0, { how: 'abrupt', awayMs: 1000 })
    expect((await stage!.send([1]))[0]).toMatchObject({ type: 'retry', exchange: 'answered', status: 503 })
    expect(service.log).toEqual([])
  })
})

describe('A proxy that repeats requests', () => {
  it('delivers once for the client, and the service sees the request twice', async () => {
    const { service } = set({ backends: 2, proxy: true })
    service.behave({ honoursKeys: false })
    service.backends[0]!.behaviour = {
      ...service.backends[0]!.behaviour,
      trouble: { type: 'reset', when: 'after commit' },
    }
    expect(tally(await stage!.send([1]))).toEqual({ delivered: 1 })
    expect(service.log.map(({ backend, committed }) => [backend, committed])).toEqual([
      [0, true],
      [1, true],
    ])
    expect([service.proxy!.repeats, service.journal.storedTwice]).toEqual([1, 1])
  })

  it('gives up with 502, or when no backend answers in time', async () => {
    const { service, world } = set({ backends: 2, proxy: true })
    service.behave({ trouble: { type: 'reset', when: 'before commit' } })
    expect((await stage!.send([1]))[0]).toMatchObject({ status: 502 })
    service.behave({ trouble: { type: 'hang', when: 'before commit' } })
    service.proxy!.patienceMs = 2000
    const before = world.now
    expect((await stage!.send([1]))[0]).toMatchObject({ status: 502 })
    expect(world.now - before).toBeGreaterThanOrEqual(4000)
  })

  it('repeats as often as its connections break', async () => {
    const { service } = set({ backends: 3, proxy: true })
    service.proxy!.breaks = 0.5
    await stage!.send(numbersTo(64))
    expect(service.proxy!.repeats).toBeGreaterThan(10)
  })
})

describe('The real receiver in the simulation', () => {
  it('stores a record once when the same key comes twice', async () => {
    const tenant = await receiverTenant()
    const { service, network, world } = await warm({ tenant })
    for (let attempt = 0; attempt < 2; attempt++) {
      expect(tally(await stage!.send(numbersTo(20)))).toEqual({ delivered: 20 })
      expect(tally(await stage!.send(numbersTo(3), 'values'))).toEqual({ delivered: 3 })
    }
    network.conditions = { ...cutTowards(5000), resetOvertakes: 1 }
    network.resetAll()
    await world.run(100)
    const words = new Set<string>()
    for (let attempt = 0; attempt < 5; attempt++)
      for (const each of await stage!.send(numbersTo(40))) words.add(word(each))
    expect(words).toContain('ambiguous')
    network.heal()
    expect(tally(await stage!.send(numbersTo(40)))).toEqual({ delivered: 40 })
    expect([service.stored.size, service.journal.storedTwice]).toEqual([44, 0])
    await service.verifyReceiver()
    expect(world.failures).toEqual([])
  })

  it('refuses and rejects as it does on a real network', async () => {
    const tenant = await receiverTenant()
    const { service } = set({ tenant: { ...tenant, apiKey: 'wrong' } })
    expect((await stage!.send([1]))[0]).toMatchObject({ type: 'pause', status: 401 })
    expect(service.log[0]).toMatchObject({ status: 401, committed: false })
  })
})

describe('A run', () => {
  /** A day of everything, from a seed. */
  async function storm(seed: number, receives: boolean): Promise<{ hash: string; failures: readonly string[] }> {
    const tenant = receives ? { tenant: await receiverTenant() } : {}
    const { network, service, world, reached } = set({ seed, backends: 2, ...tenant })
    const random = world.random('storm')
    network.conditions = {
      ...fineConditions,
      jitterMs: 3,
      segmentBytes: 500,
      refused: 0.1,
      unanswered: 0.05,
      reset: 0.3,
      closed: 0.1,
      blackHole: 0.1,
    }
    service.behave({ workMs: [0, 20], troubleChance: 0.1, trouble: { type: 'status', status: 500 } })
    world.schedule(() => service.deploy(0, { how: 'abrupt', awayMs: 2000 }), 5000)
    world.schedule(() => service.deploy(1, { how: 'graceful', awayMs: 2000 }), 15_000)
    for (let batch = 0; batch < 30; batch++) {
      const kind = random() < 0.3 ? 'values' : 'logs'
      const depth = stage!.sender.carriage(kind).maxDepth
      await stage!.send(
        numbersTo(Math.min(depth, 20)).map((number) => 100 * batch + number),
        kind,
        { probe: depth === 1 && random() < 0.3 },
      )
      await world.run(200 * random())
    }
    await service.verifyReceiver()
    for (const { at, recordId, status } of service.log) world.note(`${at} ${recordId} ${status}`)
    world.note([...reached].join())
    const result = { hash: world.traceHash, failures: world.failures }
    await stage!.end()
    stage = undefined
    return result
  }

  it.each([
    ['scripted backends', false],
    ['the receiver', true],
  ])('with %s is the same for the same seed, and another for another', async (_, receives) => {
    const hashes: string[] = []
    for (const seed of [1, 2, 3, 1, 2, 3]) {
      const { hash, failures } = await storm(seed, receives)
      hashes.push(hash)
      expect(failures).toEqual([])
    }
    expect(hashes.slice(3)).toEqual(hashes.slice(0, 3))
    expect(new Set(hashes).size).toBe(3)
  })
})
