import { type DropReason, droppedTotal, type Ledger, settledTotal } from '../../src/delivery/ledger.js'
import { checkContents, sumOfContents } from './contents.js'
import type { Promised } from './process/promised.js'
import { killingSign, stallingSign } from './process/simulated-link.js'
import type { SimulatedProcess } from './process/simulated-process.js'
import type { Schedule } from './schedule.js'
import type { World } from './world.js'

/** The parts of a simulation that the oracle looks at. */
export interface Evidence {
  readonly schedule: Schedule
  readonly processes: readonly SimulatedProcess[]
  /** How often the service has stored each record. */
  readonly stored: ReadonlyMap<number, number>
  /** Answers of the service that say that a record is stored. */
  readonly successes: number
  /** Ids that nobody could save: their process was killed, and the disk did not have them. */
  readonly unsaved: ReadonlySet<number>
  /** Ids of bad records that are on disk to the end. */
  readonly left: ReadonlySet<number>
  /** Requests that a proxy has repeated. */
  readonly proxied: number
}

/** True where the counts of a ledger add up. */
export function addsUp(ledger: Ledger): boolean {
  const { accepted, spooled, queued, inFlight } = ledger
  return accepted === settledTotal(ledger) + spooled + queued + inFlight
}

/** Checks what is true at every moment. */
export function checkNow(world: World, processes: readonly SimulatedProcess[]): void {
  for (const each of processes) {
    if (each.end !== undefined) continue
    const ledger = each.port.stats()
    if (!addsUp(ledger)) world.fail(`the ledger of ${each.name} does not add up: ${JSON.stringify(ledger)}`)
    const { maxQueueRecords, maxQueueBytes } = each.port.options
    if (each.mode !== 'worker' && ledger.queued + ledger.inFlight > maxQueueRecords) {
      world.fail(`${each.name} has ${ledger.queued + ledger.inFlight} records in memory`)
    }
    // Of the records that come back from the spool, one may be larger than the room for them, which is half of the bound.
    if (ledger.heldBytes > Math.max(maxQueueBytes, maxQueueBytes / 2 + largestBody))
      world.fail(`${each.name} has ${ledger.heldBytes} bytes in memory`)
    for (const [name, count] of Object.entries(ledger)) {
      if (typeof count === 'number' && count < 0) world.fail(`${each.name} counts ${count} as ${name}`)
    }
    const alive = each.opened.filter(({ thread }) => thread.alive)
    for (const opened of alive) {
      // Engines of one worker may write one ledger.
      const together = alive.filter(({ delivery }) => delivery.book.memory === opened.delivery.book.memory)
      if (together[0] !== opened) continue
      const contents = sumOfContents(together.map((one) => one.contents))
      const inherits = each.opened[0] !== opened
      checkContents(world, { name: opened.thread.name, contents, ledger: opened.delivery.stats(), inherits })
    }
    if (each.app.frozen || !each.app.alive) continue
    for (const promised of each.promises) {
      if (!promised.settled && world.now > Math.max(promised.deadline, each.app.clock.now()) + graceMs) {
        world.fail(`${promised.name} has not settled by its deadline`)
        promised.settled = true
      }
      checkFlush(world, { each, ledger, promised })
    }
  }
}

/** A flush resolves when all records are settled. Only where the application's thread delivers it knows that at once. */
function checkFlush(
  world: World,
  { each, ledger, promised }: { each: SimulatedProcess; ledger: Ledger; promised: Promised },
): void {
  const idle = ledger.queued + ledger.inFlight + ledger.spooled === 0
  if (promised.settled || !idle || each.mode === 'worker' || each.app.clock.now() > world.now) {
    promised.idleSince = undefined
    return
  }
  promised.idleSince ??= world.now
  if (world.now <= promised.idleSince + graceMs || !promised.name.endsWith('flush')) return
  world.fail(`${promised.name} waits, and all records are settled since ${(promised.idleSince / 1000).toFixed(3)} s`)
  promised.settled = true
}

const largestBody = 21_000
/** A drain resolves this long after its deadline at the latest, over a hand-off. */
const graceMs = 600

/** Checks the end, when everything is settled. */
export function checkEnd(world: World, evidence: Evidence): void {
  // An answer 200 that breaks off counts as delivered, whatever its body would have said.
  if (judgesInBodies(evidence.schedule)) return
  checkLosses(world, evidence)
  checkDuplicates(world, evidence)
  checkDelivered(world, evidence)
  checkTold(world, evidence)
  for (const each of evidence.processes) checkReasons(world, each, evidence.schedule)
}

/** The ledger of each process: as it was at its end, or as it is. */
export function ledgersOf(processes: readonly SimulatedProcess[]): Ledger[] {
  return processes.map((each) => each.end?.ledger ?? each.port.stats())
}

function sum<Item>(items: readonly Item[], count: (item: Item) => number): number {
  return items.reduce((total, item) => total + count(item), 0)
}

/** Nothing accepted is missing unless it is counted. */
function checkLosses(world: World, { processes, stored, unsaved, left, schedule }: Evidence): void {
  const spools = schedule.options.spoolDir !== undefined
  const missingOf = (each: SimulatedProcess) =>
    [...each.accepted.keys()].filter((id) => !stored.has(id) && !unsaved.has(id) && !left.has(id))
  const countedOf = (each: SimulatedProcess) => {
    const ledger = each.end?.ledger ?? each.port.stats()
    // An ended process has reported as lost all that it still had in memory.
    const inMemory = each.end?.how === 'kill' ? 0 : ledger.queued + ledger.inFlight
    return droppedTotal(ledger) + ledger.rejected + inMemory
  }
  const groups = spools ? [processes] : processes.map((each) => [each])
  for (const group of groups) {
    const missing = group.flatMap(missingOf)
    const counted = sum(group, countedOf)
    if (missing.length <= counted) continue
    const names = group.map(({ name }) => name).join(', ')
    world.fail(`${missing.length} records of ${names} are missing, and ${counted} are counted: ${missing.slice(0, 9)}`)
  }
}

/** A service that knows the keys stores each record once. Another one stores a record again only after an ambiguous retry. */
function checkDuplicates(world: World, { schedule, stored, processes, proxied }: Evidence): void {
  const twice = [...stored].filter(([, times]) => times > 1)
  if (schedule.service.honoursKeys) {
    if (twice.length > 0) world.fail(`records are stored more than once, by their keys: ${twice.slice(0, 9).join(' ')}`)
    return
  }
  const spools = schedule.options.spoolDir !== undefined
  // After a power loss, the spool may have again what was delivered and removed.
  // An engine that cannot write to its spool cannot say what is delivered.
  const mayForget =
    spools && (workerMayFail(schedule) || schedule.faults.some(({ on }) => on === 'disk' || on === 'power'))
  if (mayForget) return
  // An answer that says "failed" after the record was stored explains another one.
  const lies = schedule.faults.some(({ kind }) => kind === '500 after commit')
  for (const { name, end, accepted } of processes) {
    // Those that take over a spool do not know what was delivered last.
    if (end === undefined || (spools && (end.how === 'kill' || end.ledger.spooled > 0))) continue
    const extra = sum(twice, ([id, times]) => (accepted.has(id) ? times - 1 : 0))
    const explained = (lies ? end.ledger.retries : end.ledger.ambiguousRetries) + proxied
    if (extra > explained) {
      world.fail(
        `${extra} records of ${name} are stored again, and ${explained} explained: ${twice.slice(0, 9).join(' ')}`,
      )
    }
  }
}

/** The service has each record that counts as delivered. */
function checkDelivered(world: World, { processes, successes }: Evidence): void {
  const delivered = sum(ledgersOf(processes), (ledger) => ledger.delivered)
  if (delivered > successes)
    world.fail(`${delivered} records count as delivered, and the service has taken ${successes}`)
}

/** Before a signal ends a process, it tells how many records are missing. Those that arrived all the same were in a request without an answer. */
function checkTold(world: World, { processes, stored, schedule, proxied }: Evidence): void {
  const lies = schedule.faults.some(({ kind }) => kind === '500 after commit' || kind === 'garbage')
  if (lies || schedule.options.spoolDir !== undefined || workerMayFail(schedule)) return
  for (const { name, end, accepted } of processes) {
    if (end?.how !== 'signal') continue
    const { delivered, ambiguousRetries, inFlight } = end.ledger
    const arrived = [...accepted.keys()].filter((id) => stored.has(id)).length
    const unexplained = arrived - delivered - ambiguousRetries - inFlight - proxied
    if (unexplained > 0) world.fail(`${unexplained} records of ${name} have arrived, and are told as missing`)
  }
}

/** Each reason of a drop, and each rejection, has a cause in the schedule. */
function checkReasons(world: World, process: SimulatedProcess, schedule: Schedule): void {
  const { options, faults } = schedule
  const ledger = process.end?.ledger ?? process.port.stats()
  const has = (on: string, ...kinds: string[]) =>
    faults.some((fault) => fault.on === on && (kinds.length === 0 || kinds.includes(fault.kind)))
  const bounded = options.maxQueueRecords !== undefined || options.maxQueueBytes !== undefined
  const fatal = hasFatalLine(schedule)
  const troubledDisk = has('disk') || has('power')
  // A spool that takes every record leaves none to be dropped.
  const keepsAll = options.spoolDir !== undefined && !troubledDisk && options.spoolMaxBytes === undefined
  const causes: Record<DropReason, boolean> = {
    'queue-full': (bounded && !keepsAll) || troubledDisk,
    'hand-off-full': bounded,
    'spool-full': options.spoolMaxBytes !== undefined || troubledDisk,
    'too-old': options.spoolMaxAgeHours !== undefined,
    closed: true,
    shutdown: process.end !== undefined && (!keepsAll || (process.mode === 'worker' && workerMayFail(schedule))),
    unreadable: fatal || has('process', 'worker dies', 'worker hangs'),
    'worker-failed': workerMayFail(schedule),
  }
  for (const [reason, count] of Object.entries(ledger.dropped)) {
    if (count > 0 && !causes[reason as DropReason]) {
      world.fail(`${process.name} has dropped ${count} records by ${reason}, and nothing explains it`)
    }
  }
  const refuses =
    has('records') ||
    has('service', 'result false', '403', '404', '412', 'garbage', 'html', '500 before commit', '500 after commit')
  // Where a gateway refuses all requests, no other record confirms that one of them is at fault.
  const refusedByGateway = faults.every(
    (fault) =>
      (fault.on !== 'service' && fault.on !== 'records' && fault.on !== 'network') ||
      (fault.on === 'service' && fault.kind === '400 page' && fault.chance === 1 && fault.backend === undefined),
  )
  if (ledger.rejected > 0 && refusedByGateway)
    world.fail(`${process.name} counts ${ledger.rejected} records as rejected, and a gateway has refused them all`)
  if (ledger.rejected > 0 && !refuses && !has('network') && !has('service')) {
    world.fail(`${process.name} counts ${ledger.rejected} records as rejected, and nothing explains it`)
  }
}

function hasFatalLine({ bursts }: Schedule): boolean {
  return bursts.some(({ records }) =>
    records.some(({ message }) => message.includes(killingSign) || message.includes(stallingSign)),
  )
}

/** True where something in the schedule can end a delivery worker. */
function workerMayFail(schedule: Schedule): boolean {
  const { faults, processes } = schedule
  const isSlow = processes.some(({ starts }) => starts.some(({ startMs, fails }) => startMs > 1000 || fails))
  const isStopped = faults.some(
    ({ on, kind }) => on === 'process' || (on === 'disk' && (kind === 'hung' || kind === 'slow')),
  )
  return isSlow || isStopped || hasFatalLine(schedule)
}

/** True where the body of a 2xx says that the record is not taken, and the network may cut it off. */
function judgesInBodies({ faults }: Schedule): boolean {
  return (
    faults.some(({ kind }) => kind === 'result false' || kind === 'html') && faults.some(({ on }) => on === 'network')
  )
}
