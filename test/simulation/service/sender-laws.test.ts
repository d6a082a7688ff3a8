import { expect, it } from 'vitest'
import type { Outcome } from '../../../src/delivery/sender.js'
import type { RecordKind } from '../../../src/records/wire.js'
import { runs } from '../../support/full.js'
import type { Conditions } from '../network/conditions.js'
import { type Behaviour, fineBehaviour, type Trouble } from './behaviour.js'
import { receiverTenant } from './shared-receiver.js'
import { requestTimeoutMs, Stage } from './stage.js'

const seeds = runs({ some: 5, all: 2000 })

type Draw = () => number

function oneOf<Value>(draw: Draw, values: readonly Value[]): Value {
  return values[Math.floor(draw() * values.length)]!
}

function conditionsFrom(draw: Draw): Conditions {
  const some = (chance: number) => (draw() < 0.25 ? chance * draw() : 0)
  const latency = oneOf(draw, [0.1, 2, 50, 400])
  return {
    latencyMs: [latency / 2, latency],
    jitterMs: oneOf(draw, [0, 0, 5, 100]),
    bytesPerMs: oneOf(draw, [Number.POSITIVE_INFINITY, 10_000, 100]),
    segmentBytes: oneOf(draw, [65_536, 65_536, 1460, 17, 1]),
    bufferBytes: oneOf(draw, [262_144, 10_000, 500]),
    refused: some(0.5),
    unanswered: some(0.3),
    unknownName: some(0.3),
    nameServerSilent: some(0.3),
    reset: some(0.6),
    closed: some(0.4),
    blackHole: some(0.3),
    cutAfterBytes: [0, oneOf(draw, [10, 1000, 20_000])],
    resetOvertakes: draw(),
  }
}

function troubleFrom(draw: Draw): Trouble {
  const when = oneOf(draw, ['before commit', 'after commit'] as const)
  const retryAfter = { seconds: 1 + Math.floor(10 * draw()), as: oneOf(draw, ['seconds', 'date'] as const) }
  return oneOf<Trouble>(draw, [
    { type: 'status', status: oneOf(draw, [500, 502, 503, 408, 425]), when },
    { type: 'status', status: 429, ...(draw() < 0.5 ? { retryAfter } : {}) },
    { type: 'status', status: oneOf(draw, [400, 401, 403, 404, 412, 413, 418]) },
    { type: 'hang', when },
    { type: 'reset', when },
    { type: 'html' },
    { type: 'result false' },
    { type: 'garbage', when },
  ])
}

function behaviourFrom(draw: Draw): Behaviour {
  const poison = new Map<number, Trouble>()
  const poisonous = draw() < 0.3
  const kinds = Array.from({ length: 3 }, () => troubleFrom(draw))
  return {
    ...fineBehaviour,
    workMs: oneOf(draw, [
      [0, 0],
      [0, 5],
      [20, 200],
    ]),
    pipelined: oneOf(draw, ['side by side', 'one by one']),
    trouble: draw() < 0.4 ? troubleFrom(draw) : undefined,
    troubleChance: oneOf(draw, [0.02, 0.3, 1]),
    poison: ({ recordId }) => {
      if (!poisonous) return undefined
      const number = Number(recordId.slice(1))
      if (number % 7 !== 0) return undefined
      const trouble = poison.get(number) ?? kinds[number % 3]!
      poison.set(number, trouble)
      return trouble
    },
    echoesKeys: draw() < 0.7,
    honoursKeys: draw() < 0.7,
    form: oneOf(draw, ['length', 'length', 'length', 'chunked', '204', '1.0', '1.0 keep-alive']),
    answersEarly: draw() < 0.2,
    requestsPerConnection: oneOf(draw, [1, 2, 10, 100, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]),
    announcesClose: oneOf(draw, ['no', 'close', 'max']),
    closesWith: oneOf(draw, ['fin', 'reset']),
    idleMs: oneOf(draw, [500, 5000, 60_000]),
    announcesIdle: draw() < 0.5,
    goodbye: draw() < 0.2,
  }
}

interface Attempt {
  readonly number: number
  readonly key: string
  readonly kind: RecordKind
  readonly outcome: Outcome
}

/** Runs a seed. Gives the laws that it broke. */
async function run(seed: number): Promise<readonly string[]> {
  const receives = seed % 5 === 0
  const tenant = receives ? { tenant: await receiverTenant() } : {}
  const maxConnections = 1 + (seed % 3)
  const proxied = !receives && seed % 4 === 0
  const pipelining = seed % 7 === 0 ? 'off' : 'auto'
  const stage = new Stage({ seed, maxConnections, pipelining, backends: 1 + (seed % 2), proxy: proxied, ...tenant })
  const { world, network, service, thread, sender } = stage
  const draw = world.random('laws')
  const broken: string[] = []
  const attempts: Attempt[] = []
  const uncaught = (error: unknown) => broken.push(`uncaught: ${error instanceof Error ? error.stack : error}`)
  process.on('unhandledRejection', uncaught)
  const look = () => {
    const sockets = network.socketsOf(thread)
    if (sockets.length > 2 * maxConnections) broken.push(`${sockets.length} sockets`)
    if (sockets.some(({ holds }) => holds)) broken.push('a socket holds the process')
    return false
  }
  let number = 0
  let underWay = 0
  /** Time in which the thread could not run. */
  let lostMs = 0
  const send = async (kind: RecordKind) => {
    const depth = sender.carriage(kind).maxDepth
    const probe = draw() < 0.1
    const count = probe ? 1 : Math.min(depth, 1 + Math.floor(30 * draw()))
    const numbers = Array.from({ length: count }, () => ++number)
    const begun = world.now
    underWay++
    const sent = stage.begin(numbers, kind, { probe })
    const longest = (count + 4) * (requestTimeoutMs + 2000)
    const lostBefore = lostMs
    world.schedule(() => {
      if (!sent.done && lostMs === lostBefore) broken.push(`a batch of ${count} from ${begun} is not settled`)
    }, longest)
    await sent.settled
    underWay--
    for (const [index, outcome] of sent.outcomes.entries()) {
      const each = numbers[index]!
      attempts.push({ number: each, key: stage.keyOf(each, kind), kind, outcome })
    }
  }
  for (let phase = 0; phase < 4; phase++) {
    if (draw() < 0.8) network.conditions = conditionsFrom(draw)
    for (const backend of service.backends) if (!receives && draw() < 0.7) backend.behaviour = behaviourFrom(draw)
    if (draw() < 0.2) service.deploy(0, { how: oneOf(draw, ['graceful', 'abrupt']), awayMs: 3000 * draw() })
    if (draw() < 0.1) network.blackOut()
    if (draw() < 0.1) network.resetAll()
    if (service.proxy !== undefined) service.proxy.breaks = draw() < 0.5 ? 0.2 * draw() : 0
    if (draw() < 0.1) {
      const frozenMs = 20_000 * draw()
      lostMs += frozenMs
      thread.freeze()
      world.schedule(() => thread.thaw(), frozenMs)
    }
    for (let batch = 0; batch < 6; batch++) {
      if (underWay < 2 * maxConnections) void send(draw() < 0.3 ? 'values' : 'logs')
      if (draw() < 0.1) {
        const blockedMs = 15_000 * draw()
        lostMs += blockedMs
        thread.post(() => thread.block(blockedMs))
      }
      await world.run(oneOf(draw, [0, 5, 50, 2000, 20_000]) * draw(), look)
    }
  }
  await world.run(200_000, () => {
    look()
    return underWay === 0
  })
  network.heal()
  service.heal()
  await world.run(2_000_000, () => underWay === 0)
  if (underWay > 0) broken.push(`${underWay} batches are not settled after the heal`)
  broken.push(...lawsBroken(stage, attempts, proxied))
  if (receives) await service.verifyReceiver()
  thread.post(() => void sender.close())
  await world.run(2000 + lostMs)
  if (network.socketsOf(thread).length > 0) broken.push(`${network.socketsOf(thread).length} sockets are left`)
  if (thread.timers > 0) broken.push(`${thread.timers} timers are left`)
  broken.push(...world.failures)
  await stage.end()
  process.off('unhandledRejection', uncaught)
  return broken
}

function lawsBroken({ service }: Stage, attempts: readonly Attempt[], proxied: boolean): string[] {
  const broken: string[] = []
  const taken = new Map(service.log.map((each) => [each.idempotencyKey, each]))
  for (const { key, outcome } of attempts) {
    const entry = taken.get(key)
    const about = `${key}: ${JSON.stringify(outcome)}, the service: ${JSON.stringify(entry)}`
    // A success that breaks off in its body counts by its status.
    const cut = entry?.status === 200
    if (outcome.type === 'delivered' && entry?.committed !== true && !cut)
      broken.push(`delivered and not stored: ${about}`)
    if (outcome.type === 'retry' && outcome.exchange === 'unsent' && entry !== undefined) {
      broken.push(`unsent and taken: ${about}`)
    }
    const status = 'status' in outcome ? outcome.status : undefined
    // A 408 was a goodbye, on its way to an idle connection.
    const goodbye = status === 408 && entry === undefined
    if (
      status !== undefined &&
      !proxied &&
      !goodbye &&
      entry?.status !== status &&
      !(status === 200 && entry?.status === 201)
    ) {
      broken.push(`another's answer: ${about}`)
    }
  }
  return broken
}

it(`The senders keep their promises over ${seeds} random networks and services`, async () => {
  const failures: string[] = []
  for (let seed = 1; seed <= seeds; seed++) {
    const broken = await run(seed)
    if (broken.length > 0) failures.push(`seed ${seed}: ${[...new Set(broken)].slice(0, 4).join('\n  ')}`)
  }
  expect(failures.slice(0, 8)).toEqual([])
}, 600_000)
