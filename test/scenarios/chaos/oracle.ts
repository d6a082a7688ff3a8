import { payloadOf } from './payload.js'

/** How a record is logged. */
export const ways = ['pino', 'winston', 'track'] as const
export type Way = (typeof ways)[number]

/** What an application says of itself at its end, all its engines together. */
export interface FinalLedger {
  /** Of its own. */
  readonly accepted: number
  /** What others had left, taken over. */
  readonly adopted: number
  readonly dropped: number
  /** Dropped, or still held: the end did not wait for them. */
  readonly givenUp: number
  readonly rejected: number
  readonly spooled: number
  readonly ambiguous: number
  /** What the equation misses. */
  readonly imbalance: number
}

/** One life of an application. */
export interface Life {
  /** Records whose call has returned, in order, with the moment of that (CLOCK_MONOTONIC, ns). */
  readonly accepted: Map<number, bigint>
  /** When it was killed by SIGKILL; undefined when it ended by itself, or of a signal that it could handle. */
  killedAt?: bigint
  /** What it said at its end. */
  ledger?: FinalLedger | undefined
  /** All that it has printed there. */
  stderr?: string
  /** Somebody has deleted the folder, with what it had left there and its dead letters. */
  deleted?: boolean
  /** Something was wrong with the disk while it lived: what memory could not hold is dropped and counted. */
  troubledDisk: boolean
}

export interface Evidence {
  readonly lives: readonly Life[]
  /** Bodies that the server has taken, one entry for each time, with the path of the request. */
  readonly taken: readonly { readonly path: string; readonly body: string }[]
  /** Records that the server refused for good, and those in the dead letters. */
  readonly refused: ReadonlySet<number>
  readonly deadLetters: ReadonlySet<number>
}

export interface Verdict {
  readonly violations: readonly string[]
  /** By each SIGKILL, how long before it the oldest record was accepted that it has cost, in milliseconds; 0 for none. */
  readonly killCostsMs: readonly number[]
  readonly lostByKills: number
}

/** Mints numbered records, and says afterwards whether each of them has ended as it must. */
export class Oracle {
  readonly #minted = new Map<number, Way>()

  /** Numbers of `count` new records, the first of which is the answer. */
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
    // Where the disk was in trouble, a refusal may have left no letter; it is counted.
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
      const allowed = life.ledger?.ambiguous ?? Number.POSITIVE_INFINITY
      // What it left on disk is sent by others, whose own ambiguities are counted with them.
      const alone = life.killedAt === undefined && life.ledger?.spooled === 0
      if (alone && doubles > allowed) violations.push(`${name}: ${doubles} twice, ${allowed} ambiguous`)
    }
    return { violations, killCostsMs, lostByKills }
  }

  /** Whose call had returned, and which did not arrive, of a life that has told its ledger. */
  #ended(
    name: string,
    { accepted, ledger, troubledDisk, deleted = false }: Life,
    { missing, own }: { missing: readonly number[]; own: number },
  ): string[] {
    if (ledger === undefined) return [`${name}: told no ledger`]
    const violations: string[] = []
    if (ledger.imbalance !== 0) violations.push(`${name}: the ledger does not add up by ${ledger.imbalance}`)
    const more = ledger.accepted - accepted.size
    // An engine that had to give up records leaves one of its own, which may have to be given up, too.
    const ownLost = ledger.givenUp > 0 ? enginesOfLife : 0
    if (more < 0 || more > own + ownLost) violations.push(`${name}: ${ledger.accepted} accepted of ${accepted.size}`)
    // On a machine that is too busy the end does not wait until all is counted as spooled; on disk it is all the same.
    const lost = Math.max(ledger.dropped, missing.length)
    if (lost > 0 && !troubledDisk && !deleted) violations.push(`${name}: ${lost} lost, though they could be spooled`)
    if (missing.length > ledger.givenUp + (deleted ? ledger.spooled + ledger.rejected : 0))
      violations.push(`${name}: ${missing.length} missing, ${ledger.givenUp} given up: ${missing.slice(0, 20)}`)
    return violations
  }

  /** A kill may cost what was accepted last, of each way: the hand-off keeps the order. */
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

  /** The number of the record that a request carried; undefined when we never made it so. */
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

/** pino's worker has one, winston and `track` share one. */
const enginesOfLife = 2

/** Sluice's own record of what was lost. */
function isOwn(body: string): boolean {
  return body.includes('"message":"sluice: ')
}
