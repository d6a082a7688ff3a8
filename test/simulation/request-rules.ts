import type { SimulatedProcess } from './process/simulated-process.js'
import type { Schedule } from './schedule.js'
import type { TakenRequest } from './service/journal.js'
import type { World } from './world.js'

/** The requests of a simulation, for the rules about when a record may be sent. */
export interface RequestFacts {
  readonly schedule: Schedule
  readonly processes: readonly SimulatedProcess[]
  /** Every request that the service has taken, in that order. */
  readonly log: readonly TakenRequest[]
  /** By id of a record: the moment at which its acknowledgement was seen on disk. */
  readonly acknowledged: ReadonlyMap<number, number>
  /** The id of a record of the application; undefined for one of Sluice's own. */
  readonly idOf: (request: TakenRequest) => number | undefined
}

/** A client hears an answer this long after it at the latest, besides the latency. */
const turnMs = 200
/** Without a success for this long, no batch is under way that has had one. */
const withoutSuccessMs = 15_000
/** Probes are counted in spans of this length, and after as long without a success: their waits have grown by then. */
const probeSpanMs = 60_000
/** Sends of one record, each after a success of its lane: a suspect is rejected after about nine. */
const mostSends = 20

/** Checks the moments and the numbers of requests. */
export function checkRequests(world: World, facts: RequestFacts): void {
  const lanes = requestsByLane(facts.log)
  for (const [lane, requests] of lanes) {
    if (isCalm(facts.schedule)) {
      checkWaits(world, { ...facts, requests, lane })
      checkProbes(world, { ...facts, requests, lane })
    }
    if (!has(facts.schedule, 'network')) checkRejections(world, requests)
  }
  checkAcknowledged(world, facts)
}

/** By the engine that accepted the record, and the kind. An idempotency key begins with the id of the engine. */
export function requestsByLane(log: readonly TakenRequest[]): Map<string, TakenRequest[]> {
  const lanes = new Map<string, TakenRequest[]>()
  for (const request of log) {
    const lane = `${request.kind} ${request.idempotencyKey?.slice(0, request.idempotencyKey.lastIndexOf('-'))}`
    const requests = lanes.get(lane)
    if (requests === undefined) lanes.set(lane, [request])
    else requests.push(request)
  }
  return lanes
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(3)} s`
}

function has({ faults }: Schedule, on: string): boolean {
  return faults.some((fault) => fault.on === on)
}

/** True where a client hears each answer soon after it was given, and every record is sent by the engine that accepted it. */
function isCalm(schedule: Schedule): boolean {
  const { service, options, faults } = schedule
  const slow = faults.some(({ on, kind }) => notCalm.has(on) || unanswering.has(kind))
  return !slow && !service.oneByOne && !service.proxyRetries && options.spoolDir === undefined
}

/** Faults on these may delay an answer, or an end of a wait. */
const notCalm: ReadonlySet<string> = new Set(['network', 'clock', 'process', 'disk', 'power'])
/** Of the service, and of poison records. */
export const unanswering: ReadonlySet<string> = new Set([
  'hang',
  'hung before commit',
  'hung after commit',
  'slow',
  'deploy',
])

function isSuccess({ status }: TakenRequest): boolean {
  return status >= 200 && status < 300
}

interface LaneFacts extends RequestFacts {
  readonly requests: readonly TakenRequest[]
  /** The kind, and the engine. */
  readonly lane: string
}

/**
 * While nothing of a lane succeeds, the service asks it to wait: of the records that were never sent before, one at most goes out within
 * the wait, to confirm that the service means all of them.
 */
function checkWaits(world: World, { requests, lane, schedule, processes, log }: LaneFacts): void {
  const latencyMs = 4 * schedule.latencyMs[1] + schedule.service.answerMs + turnMs
  // Any other answer may open or close a breaker, and so may the begin of an end.
  const others = log.filter(({ notBefore, status }) => notBefore === undefined && status > 0 && status < 500)
  const moments = [
    ...others.map(({ at }) => at),
    ...processes.map(({ endingAt }) => endingAt ?? Number.POSITIVE_INFINITY),
  ]
  const isDisturbed = (from: number, to: number) => moments.some((at) => at >= from && at <= to)
  const seen = new Set<string | undefined>()
  const firsts = requests.filter(({ idempotencyKey }) => !seen.has(idempotencyKey) && seen.add(idempotencyKey))
  for (const { at, answeredAt, notBefore } of firsts) {
    if (notBefore === undefined || answeredAt === undefined) continue
    const heardAt = answeredAt + latencyMs
    if (isDisturbed(at - withoutSuccessMs, notBefore)) continue
    const within = firsts.filter((each) => each.at > heardAt && each.at < notBefore)
    if (within.length <= 1) continue
    const [, second] = within
    world.fail(
      `${within.length} new records of ${lane.split(' ')[0]} were sent within a Retry-After: ` +
        `it came at ${seconds(answeredAt)} and ended at ${seconds(notBefore)}, the second record came at ${seconds(second!.at)}`,
    )
    return
  }
}

/** In an outage that lasts, the requests of a lane are few: three times what the longest waits allow, and some. */
function checkProbes(world: World, { requests, lane, schedule, processes, log }: LaneFacts): void {
  const { retryCapMs = 30_000, probeCapMs = 60_000 } = schedule.options
  const perSpan = Math.max((2 * probeSpanMs) / retryCapMs, (2 * probeSpanMs) / probeCapMs)
  const most = 3 * perSpan + 20
  const others = log.filter(({ status }) => status > 0 && status < 500 && status !== 429)
  const moments = [
    ...others.map(({ at }) => at),
    ...processes.map(({ endingAt }) => endingAt ?? Number.POSITIVE_INFINITY),
    ...schedule.flushes.flatMap(({ at, timeoutMs }) => [at, at + timeoutMs]),
  ]
  for (const [index, { at }] of requests.entries()) {
    const last = requests[index + Math.ceil(most)]
    if (last === undefined) return
    if (last.at > at + probeSpanMs || moments.some((each) => each >= at - probeSpanMs && each <= last.at)) continue
    world.fail(
      `more than ${most} ${lane.split(' ')[0]} were sent from ${seconds(at)} to ${seconds(last.at)}, in an outage`,
    )
    return
  }
}

/** A record that fails again and again while others are delivered is rejected. */
function checkRejections(world: World, requests: readonly TakenRequest[]): void {
  const successes = requests.filter((each) => isSuccess(each) && each.committed)
  const sends = new Map<string, { last: number; count: number }>()
  let next = 0
  let before = 0
  for (const { idempotencyKey = '', recordId, at, ...request } of requests) {
    while (next < successes.length && successes[next]!.at < at) {
      next++
      before++
    }
    if (isSuccess({ ...request, idempotencyKey, recordId, at })) continue
    const sent = sends.get(idempotencyKey) ?? { last: -1, count: 0 }
    sends.set(idempotencyKey, sent)
    if (before > sent.last) sent.count++
    sent.last = before
    if (sent.count > mostSends) {
      world.fail(
        `${recordId} was sent ${sent.count} times until ${seconds(at)}, and others were delivered between them`,
      )
      return
    }
  }
}

/** A record that a spool has as settled is sent no more. */
function checkAcknowledged(world: World, { log, acknowledged, idOf, schedule }: RequestFacts): void {
  if (has(schedule, 'network') || schedule.service.proxyRetries) return
  const latencyMs = 4 * schedule.latencyMs[1] + turnMs
  for (const request of log) {
    const id = idOf(request)
    const since = id === undefined ? undefined : acknowledged.get(id)
    if (since === undefined || request.at <= since + latencyMs) continue
    world.fail(`record ${id} was settled on disk at ${seconds(since)}, and sent again at ${seconds(request.at)}`)
    return
  }
}
