import { fitting } from '../page-bytes.js'
import type { Arrivals, ArrivalsQuery, Missed, MissedQuery, Position, Receipts, RecordKind } from '../record-storage.js'
import { maxArrivalBytes } from '../records/limits.js'
import { type StoredRow, storedJson } from '../records/stored-record.js'
import { type Arrived, LaneTail } from './lane-tail.js'
import { firstIdOf, msOfId } from './record-ids.js'
import type { Servers } from './servers.js'

/** A lane that nobody has followed for this time is forgotten, in ms. */
const unusedMs = 60_000
const kinds = ['logs', 'values'] as const satisfies readonly RecordKind[]

/** Reads records forwards, as this process sees them arrive, also those that other receivers have stored. */
export class RecordTail {
  readonly #servers: Servers
  readonly #store: string
  readonly #nowMs: () => number
  readonly #lanes = new Map<string, LaneTail>()

  /**
   * @param store identity of the store
   * @param nowMs time of the database
   */
  constructor(servers: Servers, { store, nowMs }: { readonly store: string; readonly nowMs: () => number }) {
    this.#servers = servers
    this.#store = store
    this.#nowMs = nowMs
  }

  /** The first use of a lane begins to remember what arrives there. */
  async position({ bucket }: { readonly bucket: string }): Promise<Position> {
    const [logs, values] = await Promise.all(kinds.map((kind) => this.#newest({ bucket, kind })))
    return { store: this.#store, logs: logs!, values: values! }
  }

  async arrivals({ kind, bucket, after, limit }: ArrivalsQuery): Promise<Arrivals> {
    const lane = this.#lane({ bucket, kind })
    await lane.look()
    const arrived = lane.after(after) ?? (await this.#fromUnremembered({ bucket, kind }, { after, limit: limit + 1 }))
    const taken = fitting(arrived.slice(0, limit), maxArrivalBytes)
    const rows = taken.length === 0 ? [] : await this.#rows({ bucket, kind }, taken)
    return {
      count: rows.length,
      json: `[${rows.map(storedJson).join(',')}]`,
      last: taken.at(-1)?.id ?? after,
      hasMore: taken.length < arrived.length,
    }
  }

  async missed({ bucket, since }: MissedQuery): Promise<Missed> {
    const [logs, values] = await Promise.all(
      kinds.map(async (kind) => {
        const lane = this.#lane({ bucket, kind })
        await lane.look()
        const arrived = lane.after(since[kind])
        if (arrived !== undefined) return { count: arrived.length, last: arrived.at(-1)?.id ?? since[kind] }
        return this.#counted({ bucket, kind }, since[kind])
      }),
    )
    return {
      counts: { logs: logs!.count, values: values!.count },
      position: { store: since.store, logs: logs!.last, values: values!.last },
    }
  }

  async oldest(): Promise<number | undefined> {
    const sql = 'SELECT min(first_id) AS id FROM sluice_spans WHERE step_ms = 3600000'
    const [row] = await this.#servers.read<{ id: number | null }>(sql)
    return row?.id == null ? undefined : msOfId(row.id)
  }

  /** As far as the spans tell: within one span only its first and last record are known. */
  async receiptsAround(ms: number): Promise<Receipts> {
    const [row] = await this.#servers.read<{ before: number | null; since: number | null }>(
      `SELECT max(CASE WHEN last_id < $1 THEN last_id WHEN first_id < $1 THEN first_id END) AS before,
         min(CASE WHEN first_id >= $1 THEN first_id WHEN last_id >= $1 THEN last_id END) AS since
       FROM sluice_spans WHERE step_ms = 3600000`,
      [firstIdOf(ms)],
    )
    return {
      before: row?.before == null ? undefined : msOfId(row.before),
      since: row?.since == null ? undefined : msOfId(row.since),
    }
  }

  async #newest(lane: Lane): Promise<number> {
    const tail = this.#lane(lane)
    await tail.look()
    const [row] = await this.#servers.read<{ last: number | null }>(
      'SELECT max(id) AS last FROM sluice_records WHERE bucket = $1 AND kind = $2',
      [lane.bucket, lane.kind],
    )
    // The newest one may have come since. What is committed from now on arrives after it, also with smaller ids.
    await tail.look()
    return row?.last ?? 0
  }

  /** The records that are not remembered, in the order of their ids, and then all that are. */
  async #fromUnremembered(lane: Lane, { after, limit }: { after: number; limit: number }): Promise<Arrived[]> {
    const tail = this.#lane(lane)
    const found: Arrived[] = []
    for (let from = after; found.length < limit; ) {
      const rows = await this.#stored(lane, { after: from, upTo: tail.unrememberedUpTo, limit })
      // A record of these that was committed after the last look is remembered from now on, and comes with those.
      await tail.look()
      found.push(...rows.filter(({ id }) => !tail.remembers(id)))
      if (rows.length < limit) return [...found, ...tail.remembered]
      from = rows.at(-1)!.id
    }
    return found
  }

  #stored({ bucket, kind }: Lane, { after, upTo, limit }: IdRange & { limit: number }): Promise<Arrived[]> {
    return this.#servers.read<Arrived>(
      `SELECT id, octet_length(record) AS bytes FROM sluice_records WHERE bucket = $1 AND kind = $2 AND id > $3 AND id <= $4
         ORDER BY id LIMIT $5`,
      [bucket, kind, after, upTo, limit],
    )
  }

  /** Counts the records that `#fromUnremembered` would read. */
  async #counted({ bucket, kind }: Lane, after: number) {
    const { unrememberedUpTo: upTo, remembered } = this.#lane({ bucket, kind })
    const [row] = await this.#servers.read<{ count: number; last: number | null }>(
      'SELECT count(*) AS count, max(id) AS last FROM sluice_records WHERE bucket = $1 AND kind = $2 AND id > $3 AND id <= $4',
      [bucket, kind, after, upTo],
    )
    const others = remembered.filter(({ id }) => id <= after || id > upTo)
    return {
      count: row!.count + others.length,
      last: remembered.at(-1)?.id ?? Math.max(after, row!.last ?? after),
    }
  }

  async #rows({ bucket, kind }: Lane, arrived: readonly Arrived[]): Promise<StoredRow[]> {
    const found = await this.#servers.read<StoredRow>(
      'SELECT id, received_ms AS "receivedMs", record FROM sluice_records WHERE bucket = $1 AND kind = $2 AND id = ANY($3)',
      [bucket, kind, arrived.map(({ id }) => id)],
    )
    const byId = new Map(found.map((row) => [row.id, row]))
    return arrived.flatMap(({ id }) => byId.get(id) ?? [])
  }

  #lane(lane: Lane): LaneTail {
    for (const [name, { lastUsedAt }] of this.#lanes) {
      if (performance.now() - lastUsedAt > unusedMs) this.#lanes.delete(name)
    }
    const name = `${lane.kind} ${lane.bucket}`
    const known = this.#lanes.get(name) ?? new LaneTail(this.#servers, { lane, nowMs: this.#nowMs })
    this.#lanes.set(name, known)
    return known
  }
}

/** Ids after one, up to another. */
interface IdRange {
  readonly after: number
  readonly upTo: number
}

interface Lane {
  readonly bucket: string
  readonly kind: RecordKind
}
