import type { SimulatedProcess } from './process/simulated-process.js'
import { type RequestFacts, requestsByLane, unanswering } from './request-rules.js'
import type { Schedule } from './schedule.js'
import type { TakenRequest } from './service/journal.js'
import type { World } from './world.js'

/** An answer within this time holds up no connection: during a drain, a lane is patient for no longer. */
const drainingPatienceMs = 500
/** Faults of network, disk and process that hold up a request which then succeeds, or that ends with its process. */
const delaying: ReadonlySet<string> = new Set(['black hole', 'single bytes', 'hung', 'freeze', 'worker hangs'])

/**
 * While nothing of a lane fails, its records of one severity come in the order of their acceptance: on each connection, and altogether
 * where there is one connection only. Drains keep this order, too: at most they put the more severe records first.
 */
export function checkOrder(world: World, facts: RequestFacts): void {
  const { schedule, processes, log, idOf } = facts
  const isAlone = schedule.options.maxConnections === 1
  if (!isAlone && !isPrompt(schedule)) return
  // It repeats a request later, and its client knows nothing of that.
  if (schedule.service.proxyRetries) return
  const places = new Map(processes.map((each) => [each, placesIn(each)]))
  for (const requests of requestsByLane(log).values()) {
    const first = requests.map(idOf).find((id) => id !== undefined)
    const process = processes.find(({ accepted }) => first !== undefined && accepted.has(first))
    if (process === undefined || !keepsOrder(process, { ...facts, requests })) continue
    const last = new Map<string, { readonly id: number; readonly place: number }>()
    for (const request of requests) {
      const id = idOf(request)
      // Another process sends the records that this one has left on disk, among its own.
      if (id === undefined || request.at > (process.end?.at ?? world.now)) continue
      const way = `${isAlone ? '' : request.connection} ${process.accepted.get(id)!.severity}`
      const place = places.get(process)!.get(id)!
      const before = last.get(way)
      last.set(way, { id, place })
      if (before === undefined || before.place <= place) continue
      world.fail(
        `${request.kind} of ${process.name} came in another order than that of their acceptance: ${before.id}, ${id}`,
      )
      return
    }
  }
}

function placesIn({ accepted }: SimulatedProcess): ReadonlyMap<number, number> {
  return new Map([...accepted.keys()].map((id, place) => [id, place]))
}

/** True where no request waits so long that its lane tries the newest record beside it, on another connection. */
function isPrompt(schedule: Schedule): boolean {
  const { latencyMs, service, options, faults } = schedule
  const { requestTimeoutMs = 10_000 } = options
  // A new connection takes a round trip, and the request another one.
  const longestMs = 4 * latencyMs[1] + service.answerMs
  const isDelayed = faults.some(({ kind }) => unanswering.has(kind) || delaying.has(kind))
  return !isDelayed && longestMs <= Math.min(requestTimeoutMs / 4, drainingPatienceMs)
}

function keepsOrder(
  process: SimulatedProcess,
  { requests, schedule }: Pick<RequestFacts, 'schedule'> & { readonly requests: readonly TakenRequest[] },
): boolean {
  const ledger = process.end?.ledger ?? process.port.stats()
  const lane = ledger.lanes.find(({ kind }) => kind === requests[0]!.kind)!
  const { accepted, delivered, rejected, retries, ambiguousRetries, lastError } = lane
  // A record that has failed comes back later. One that is never sent again is not settled at the end.
  if (retries > 0 || (lastError !== undefined && accepted > delivered + rejected)) return false
  if (schedule.options.spoolDir === undefined) return true
  // Records in memory that a failing disk did not take go before older ones on disk, for which they leave no room.
  const isBounded = schedule.options.maxQueueRecords !== undefined || schedule.options.maxQueueBytes !== undefined
  if (isBounded && schedule.faults.some(({ on }) => on === 'disk')) return false
  // Before a signal, a park takes records back from their requests, and the end sends them again.
  if (process.end?.how === 'signal' && ambiguousRetries > 0) return false
  // The next worker takes over what the one before has left on disk.
  return process.threads.filter(({ name }) => name.includes('/worker')).length <= 1
}
