import type { RecordKind } from './record-storage.js'

/** Records of one commit that came again, with a known idempotency key, and were not stored again. */
export interface Repeated {
  readonly kind: RecordKind
  readonly bucket: string
  readonly count: number
}

/** Counts the records that came again since the start. */
export class RepeatedAttempts {
  readonly #counts = new Map<string, Record<RecordKind, number>>()

  add(repeated: readonly Repeated[]): void {
    for (const { kind, bucket, count } of repeated) {
      const counts = { ...this.of(bucket) }
      counts[kind] += count
      this.#counts.set(bucket, counts)
    }
  }

  of(bucket: string): Readonly<Record<RecordKind, number>> {
    return this.#counts.get(bucket) ?? { logs: 0, values: 0 }
  }
}
