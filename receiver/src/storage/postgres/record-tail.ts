import { fitting } from '../page-bytes.js'
import type { Arrivals, ArrivalsQuery, Missed, MissedQuery, Position, RecordKind } from '../record-storage.js'
import { maxArrivalBytes } from '../records/limits.js'
import { type StoredRow, storedJson } from '../records/stored-record.js'
import { type Arrived, LaneTail } from './lane-tail.js'
import type { Servers } from './servers.js'

/** A lane that nobody has followed for so long is forgotten, in ms. */
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
  constructor({
    servers,
    store,
    nowMs,
  }: {
    readonly servers: Servers
    readonly store: string
    readonly nowMs: () => number
  }) {
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
    const arrived = lane.after(after) ?? (await this.#stored({ bucket, kind }, { after, limit: limit + 1 }))
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

  async #newest(lane: Lane): Promise<number> {
    await this.#lane(lane).look()
    const [row] = await this.#servers.read<{ last: number | null }>(
      'SELECT max(id) AS last FROM sluice_records WHERE bucket = $1 AND kind = $2',
      [lane.bucket, lane.kind],
    )
    return row?.last ?? 0
  }

  /** Records that are not remembered any more. */
  #stored({ bucket, kind }: Lane, { after, limit }: { after: number; limit: number }): Promise<Arrived[]> {
    return this.#servers.read<Arrived>(
      `SELECT id, octet_length(record) AS bytes FROM sluice_records WHERE bucket = $1 AND kind = $2 AND id > $3 ORDER BY id LIMIT $4`,
      [bucket, kind, after, limit],
    )
  }

  async #counted({ bucket, kind }: Lane, after: number) {
    const [row] = await this.#servers.read<{ count: number; last: number | null }>(
      'SELECT count(*) AS count, max(id) AS last FROM sluice_records WHERE bucket = $1 AND kind = $2 AND id > $3',
      [bucket, kind, after],
    )
    return { count: row?.count ?? 0, last: row?.last ?? after }
  }

  async #rows({ bucket, kind }: Lane, arrived: readonly Arrived[]): Promise<StoredRow[]> {
    const rows = await this.#servers.read<StoredRow>(
      'SELECT id, received_ms AS "receivedMs", record FROM sluice_records WHERE bucket = $1 AND kind = $2 AND id = ANY($3)',
      [bucket, kind, arrived.map(({ id }) => id)],
    )
    const byId = new Map(rows.map((row) => [row.id, row]))
    return arrived.flatMap(({ id }) => byId.get(id) ?? [])
  }

  #lane(lane: Lane): LaneTail {
    for (const [name, { lastUsedAt }] of this.#lanes) {
      if (performance.now() - lastUsedAt > unusedMs) this.#lanes.delete(name)
    }
    const name = `${lane.kind} ${lane.bucket}`
    const known = this.#lanes.get(name) ?? new LaneTail({ servers: this.#servers, lane, nowMs: this.#nowMs })
    this.#lanes.set(name, known)
    return known
  }
}

interface Lane {
  readonly bucket: string
  readonly kind: RecordKind
}
