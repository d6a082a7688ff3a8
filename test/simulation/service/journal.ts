import type { RecordKind } from '../../../src/records/wire.js'
import type { World } from '../world.js'
import type { RequestHead } from './request-reader.js'

/** A request that a backend has taken. */
export interface TakenRequest {
  /** Time of the world. */
  readonly at: number
  readonly kind: RecordKind
  readonly bucket: string
  readonly idempotencyKey: string | undefined
  /** `r123` for the log record with the message `r#123 …`, `v1000123` for a value record; empty for others. */
  readonly recordId: string
  /** Number of the backend. */
  readonly backend: number
  /** The connection on which it came: the client's port. */
  readonly connection: number
  /** Of the answer that was given; 0 while there is none. */
  status: number
  /** Time of the world of the answer. */
  answeredAt: number | undefined
  /** The record is stored, by this request or one before with the same key. */
  committed: boolean
  /** The answer asks not to come again before this time of the world. */
  notBefore: number | undefined
}

/** All that the service has seen and stored, for an oracle. */
export class Journal {
  readonly log: TakenRequest[] = []
  readonly counts = { taken: 0, logs: 0, values: 0, answered: 0, refused: 0 }
  /** Times of the world at which each record was stored. */
  readonly stored = new Map<string, number[]>()
  /** The ids in the order of their storing. */
  readonly order: Readonly<Record<RecordKind, string[]>> = { logs: [], values: [] }
  readonly #keys = new Set<string>()
  readonly #world: World

  constructor(world: World) {
    this.#world = world
  }

  take(request: RequestHead & { readonly recordId: string }, backend: number): TakenRequest {
    const { kind, bucket, idempotencyKey, recordId, connection } = request
    const taken: TakenRequest = {
      at: this.#world.now,
      kind,
      bucket,
      idempotencyKey,
      recordId,
      backend,
      connection,
      status: 0,
      answeredAt: undefined,
      committed: false,
      notBefore: undefined,
    }
    this.log.push(taken)
    this.counts.taken++
    this.counts[kind]++
    return taken
  }

  answer(taken: TakenRequest, status: number): void {
    taken.status = status
    taken.answeredAt = this.#world.now
    this.counts.answered++
    if (status >= 300) this.counts.refused++
  }

  /** Store the record, or not again where its key is known and keys are honoured. */
  store(taken: TakenRequest, { honoursKeys }: { readonly honoursKeys: boolean }): void {
    const { kind, bucket, idempotencyKey, recordId } = taken
    taken.committed = true
    if (honoursKeys && idempotencyKey !== undefined) {
      const key = `${kind} ${bucket} ${idempotencyKey}`
      if (this.#keys.has(key)) return
      this.#keys.add(key)
    }
    const times = this.stored.get(recordId)
    if (times === undefined) this.stored.set(recordId, [this.#world.now])
    else times.push(this.#world.now)
    this.order[kind].push(recordId)
  }

  /** Records that were stored more than once, with the surplus. */
  get storedTwice(): number {
    let surplus = 0
    for (const [recordId, times] of this.stored) if (recordId !== '') surplus += times.length - 1
    return surplus
  }
}
