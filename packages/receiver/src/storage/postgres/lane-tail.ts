import type { Sized } from '../page-bytes.js'
import type { RecordKind } from '../record-storage.js'
import { firstIdOf, slotOfId, sqlSlotOf } from './record-ids.js'
import type { Servers } from './servers.js'

/** A record that has arrived. */
export interface Arrived extends Sized {
  readonly id: number
}

/** Most records that are remembered in the order of their arrival. */
const maxRemembered = 20_000
/** Each look reads the batches of this time again: commits come in another order than their ids. */
const recentMs = 5000
/** A commit that took longer has smaller ids than those. The batches of these ten minutes are counted this often, and read again if one has come. */
const lateMs = 600_000
const countEveryMs = 2000

interface Batch {
  readonly id: number
  readonly last: number
}

/** The records of one lane in the order in which this process has seen them. Ids alone do not tell it: several receivers commit in any order. */
export class LaneTail {
  readonly #servers: Servers
  readonly #lane: { readonly bucket: string; readonly kind: RecordKind }
  readonly #nowMs: () => number
  /** The batches that were seen, of the last ten minutes and a little more. */
  readonly #seen = new Set<number>()
  #arrived: Arrived[] = []
  /** Places of the ids in `#arrived`, counted from the first that was ever there. */
  readonly #places = new Map<number, number>()
  #forgotten = 0
  #unrememberedUpTo = 0
  #looking: Promise<void> | undefined
  #countedAt = Number.NEGATIVE_INFINITY
  #hasBegun = false
  lastUsedAt = performance.now()

  /** @param nowMs time of the database */
  constructor(
    servers: Servers,
    {
      lane,
      nowMs,
    }: { readonly lane: { readonly bucket: string; readonly kind: RecordKind }; readonly nowMs: () => number },
  ) {
    this.#servers = servers
    this.#lane = lane
    this.#nowMs = nowMs
  }

  /** Looks for new records. Callers at the same time share one look that begins after each has asked. */
  async look(): Promise<void> {
    this.lastUsedAt = performance.now()
    // The look that runs may have begun before the commit that this caller knows of.
    if (this.#looking !== undefined) await this.#looking.catch(() => {})
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined
    })
    await this.#looking
  }

  /** The records that arrived after one; undefined if this one is not remembered, and others with larger ids may not be either. */
  after(id: number): readonly Arrived[] | undefined {
    const place = this.#places.get(id)
    if (place !== undefined) return this.#arrived.slice(place + 1 - this.#forgotten)
    // The next look finds this one.
    if (id > this.#unrememberedUpTo) return this.#arrived.filter((each) => each.id > id)
    return undefined
  }

  /** The remembered records in the order of their arrival. */
  get remembered(): readonly Arrived[] {
    return this.#arrived
  }

  remembers(id: number): boolean {
    return this.#places.has(id)
  }

  /** No record with a larger id has been there before the first look, or has been forgotten. Of those with smaller ids some may be remembered. */
  get unrememberedUpTo(): number {
    return this.#unrememberedUpTo
  }

  async #look(): Promise<void> {
    const now = performance.now()
    const nowMs = this.#nowMs()
    const [oldest, recent] = [firstIdOf(nowMs - lateMs), firstIdOf(nowMs - recentMs)]
    const isDue = now - this.#countedAt >= countEveryMs
    const hasLate = isDue && (await this.#hasLate({ oldest, recent }))
    const arrived = await this.#arrivedSince(hasLate ? oldest : recent)
    this.#add(arrived.sort((one, other) => one.id - other.id))
    if (!isDue) return
    this.#countedAt = now
    // The time of the database may be corrected: a batch must not be read again.
    const forgotten = firstIdOf(nowMs - lateMs - recentMs)
    for (const id of this.#seen) if (id < forgotten) this.#seen.delete(id)
  }

  /** True if there are batches of the last minutes that were not seen. */
  async #hasLate({ oldest, recent }: { readonly oldest: number; readonly recent: number }): Promise<boolean> {
    if (!this.#hasBegun) return true
    const { bucket, kind } = this.#lane
    const [row] = await this.#servers.read<{ batches: number }>(
      'SELECT count(*) AS batches FROM sluice_batches WHERE bucket = $1 AND kind = $2 AND id >= $3 AND id < $4',
      [bucket, kind, oldest, recent],
    )
    let seen = 0
    for (const id of this.#seen) if (id >= oldest && id < recent) seen++
    return row!.batches !== seen
  }

  async #arrivedSince(begin: number): Promise<Arrived[]> {
    const { bucket, kind } = this.#lane
    const batches = await this.#servers.read<Batch>(
      'SELECT id, last_id AS last FROM sluice_batches WHERE bucket = $1 AND kind = $2 AND id >= $3 ORDER BY id',
      [bucket, kind, begin],
    )
    const fresh = batches.filter(({ id }) => !this.#seen.has(id))
    // The records before the first look are no arrivals.
    const isFirst = !this.#hasBegun
    const rows = isFirst || fresh.length === 0 ? [] : await this.#recordsOf(fresh)
    // After the batches: records that come between the two arrive at the next look.
    if (isFirst) this.#unrememberedUpTo = await this.#newest()
    for (const { id } of fresh) this.#seen.add(id)
    this.#hasBegun = true
    return rows
  }

  async #newest(): Promise<number> {
    const { bucket, kind } = this.#lane
    const sql = 'SELECT max(id) AS last FROM sluice_records WHERE bucket = $1 AND kind = $2'
    const [row] = await this.#servers.read<{ last: number | null }>(sql, [bucket, kind])
    return row?.last ?? 0
  }

  #recordsOf(batches: readonly Batch[]): Promise<Arrived[]> {
    const { bucket, kind } = this.#lane
    // OFFSET keeps the ranges of the batches a condition of the index: a plain join would read all records of the day.
    return this.#servers.read<Arrived>(
      `SELECT r.id, r.bytes FROM unnest($3::bigint[], $4::bigint[], $5::bigint[]) AS b (first, last, slot)
         CROSS JOIN LATERAL (
           SELECT id, octet_length(record) AS bytes FROM sluice_records
             WHERE bucket = $1 AND kind = $2 AND id BETWEEN b.first AND b.last AND ${sqlSlotOf('id')} = b.slot OFFSET 0
         ) r`,
      [
        bucket,
        kind,
        batches.map(({ id }) => id),
        batches.map(({ last }) => last),
        batches.map(({ id }) => slotOfId(id)),
      ],
    )
  }

  #add(records: readonly Arrived[]): void {
    for (const record of records) {
      this.#places.set(record.id, this.#forgotten + this.#arrived.length)
      this.#arrived.push(record)
    }
    const excess = this.#arrived.length - maxRemembered
    if (excess <= 0) return
    for (const { id } of this.#arrived.slice(0, excess)) {
      this.#places.delete(id)
      this.#unrememberedUpTo = Math.max(this.#unrememberedUpTo, id)
    }
    this.#arrived = this.#arrived.slice(excess)
    this.#forgotten += excess
  }
}
