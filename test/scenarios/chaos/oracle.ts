import { payloadOf } from './payload.js'

/** How a record is logged. */
export const ways = ['pino', 'winston', 'track'] as const
export type Way = (typeof ways)[number]

/** The account that an application prints at its end: the sum of its engines. */
export interface FinalLedger {
  /** Records of its own. */
  readonly accepted: number
  /** Records of earlier processes that it took over. */
  readonly adopted: number
  readonly dropped: number
  /** Dropped records, and those that were still in memory at the end. */
  readonly givenUp: number
  readonly rejected: number
  readonly spooled: number
  readonly ambiguous: number
  /** Records that are missing in the equation of the ledger. */
  readonly imbalance: number
}

/** One life of an application. */
export interface Life {
  /** Records whose call has returned, in order, with the moment of that (CLOCK_MONOTONIC, ns). */
  readonly accepted: Map<number, bigint>
  /** When it was killed by SIGKILL; undefined when it ended by itself, or of a signal that it could handle. */
  killedAt?: bigint
  /** The account that it printed at its end. */
  ledger?: FinalLedger | undefined
  /** All of its stderr. */
  stderr?: string
  /** True when the schedule has deleted the folder, with its records and dead letters. */
  deleted?: boolean
  /** True when the disk had a fault while it lived: records that did not fit into memory are dropped and counted. */
  troubledDisk: boolean
}

export interface Evidence {
  readonly lives: readonly Life[]
  /** Bodies that the server has taken, with the path of the request. A body that is taken twice has two entries. */
  readonly taken: readonly { readonly path: string; readonly body: string }[]
  /** Records that the server rejected, and those in the dead letters. */
  readonly refused: ReadonlySet<number>
  readonly deadLetters: ReadonlySet<number>
}

export interface Verdict {
  readonly violations: readonly string[]
  /** The age of the oldest record that each SIGKILL has cost, in milliseconds. 0 when it cost none. */
  readonly killCostsMs: readonly number[]
  readonly lostByKills: number
}

/** Mints numbered records, and checks afterwards that each of them ended as it must. */
export class Oracle {
  readonly #minted = new Map<number, Way>()

  /** Reserves `count` numbers and returns the first. */
  mint(way: Way, count: number): number {
    const first = this.#minted.size + 1
    for (let id = first; id < first + count; id++) this.#minted.set(id, way)
    return first
  }

  get minted(): number {
    return this.#minted.size
  }

  verdict({ lives, taken, refused, deadLetters }: Evidence): Verdict {
    const violations: string[] = []
    const times = new Map<number, number>()
    let own = 0
    for (const { path, body } of taken) {
      if (isOwn(body)) {
        own++
        continue
      }
      const id = this.identify(path, body)
      if (id === undefined) violations.push(`invented or changed: ${path} ${body.slice(0, 300)}`)
      else times.set(id, (times.get(id) ?? 0) + 1)
    }
    for (const id of deadLetters) if (!refused.has(id)) violations.push(`dead letter ${id} was never refused`)
    // A rejected record may have no dead letter when the disk had a fault. It is counted.
    const settled = (id: number, { troubledDisk }: Life) =>
      times.has(id) || (refused.has(id) && (deadLetters.has(id) || troubledDisk))

    const killCostsMs: number[] = []
    let lostByKills = 0
    for (const [index, life] of lives.entries()) {
      const missing = [...life.accepted.keys()].filter((id) => !settled(id, life))
      const name = `life ${index}`
      if (life.killedAt === undefined) violations.push(...this.#ended(name, life, { missing, own }))
      else {
        const { cost, misplaced } = this.#killed(life, missing)
        killCostsMs.push(cost)
        lostByKills += missing.length
        if (misplaced.length > 0 && life.deleted !== true)
          violations.push(`${name}: killed, but had accepted later ones that arrived than ${misplaced}`)
      }
      const doubles = [...life.accepted.keys()].reduce((sum, id) => sum + Math.max(0, (times.get(id) ?? 0) - 1), 0)
      const { ambiguous: allowed, spooled, givenUp, dropped } = life.ledger ?? leftToOthers
      // Other processes send the records that it left on disk, and count their own ambiguous requests. On a busy machine the ledger counts
      // such records as still in memory.
      const alone = life.killedAt === undefined && spooled === 0 && givenUp === dropped
      if (alone && doubles > allowed) violations.push(`${name}: ${doubles} twice, ${allowed} ambiguous`)
    }
    return { violations, killCostsMs, lostByKills }
  }

  /** Records of a life with a ledger whose call had returned and that did not arrive. */
  #ended(
    name: string,
    { accepted, ledger, troubledDisk, deleted = false }: Life,
    { missing, own }: { missing: readonly number[]; own: number },
  ): string[] {
    if (ledger === undefined) return [`${name}: told no ledger`]
    const violations: string[] = []
    if (ledger.imbalance !== 0) violations.push(`${name}: the ledger does not add up by ${ledger.imbalance}`)
    const more = ledger.accepted - accepted.size
    // An engine that drops records logs one record about it, which can be dropped as well.
    const ownLost = ledger.givenUp > 0 ? enginesOfLife : 0
    if (more < 0 || more > own + ownLost) violations.push(`${name}: ${ledger.accepted} accepted of ${accepted.size}`)
    // On a busy machine the end does not wait until all records are counted as spooled. They are on disk nevertheless.
    const lost = Math.max(ledger.dropped, missing.length)
    if (lost > 0 && !troubledDisk && !deleted) violations.push(`${name}: ${lost} lost, though they could be spooled`)
    if (missing.length > ledger.givenUp + (deleted ? ledger.spooled + ledger.rejected : 0))
      violations.push(`${name}: ${missing.length} missing, ${ledger.givenUp} given up: ${missing.slice(0, 20)}`)
    return violations
  }

  /** A kill may cost only the latest records of each way, because the hand-off keeps the order. */
  #killed({ accepted, killedAt }: Life, missing: readonly number[]): { cost: number; misplaced: number[] } {
    const lost = new Set(missing)
    const misplaced: number[] = []
    let oldest = killedAt!
    for (const way of ways) {
      const own = [...accepted.keys()].filter((id) => this.#minted.get(id) === way)
      const lastKept = own.findLastIndex((id) => !lost.has(id))
      misplaced.push(...own.slice(0, lastKept + 1).filter((id) => lost.has(id)))
      const firstLost = own[lastKept + 1]
      const at = firstLost === undefined ? undefined : accepted.get(firstLost)
      if (at !== undefined && at < oldest) oldest = at
    }
    return { cost: Number(killedAt! - oldest) / 1e6, misplaced }
  }

  /** The number of the record in a request. `undefined` when its text is not as it was logged. */
  identify(path: string, body: string): number | undefined {
    try {
      const { eventId, message } = JSON.parse(body) as { eventId?: number; message?: string }
      const id = message === undefined ? eventId : Number(/\{"id":(\d+)\}$/.exec(message)?.[1])
      if (id === undefined) return undefined
      const way = this.#minted.get(id)
      if (way === undefined) return undefined
      if (way === 'track') return path === '/value_tracking/chaos' && message === undefined ? id : undefined
      return path === '/logs/chaos' && message === `${payloadOf(id)} {"id":${id}}` ? id : undefined
    } catch {
      return undefined
    }
  }
}

/** In place of the ledger of a process that was killed. */
const leftToOthers = { ambiguous: 0, spooled: Number.POSITIVE_INFINITY, givenUp: 0, dropped: 0 }

/** pino's worker has one engine; winston and `track` share one. */
const enginesOfLife = 2

/** True for the record that Sluice logs about lost records. */
function isOwn(body: string): boolean {
  return body.includes('"message":"sluice: ')
}
