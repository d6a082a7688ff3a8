import { renameSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import type { LaneName } from '../../delivery/ledger.js'
import type { Restored } from '../../delivery/store.js'
import { deadLetterFile } from '../../spool/dead-letters.js'
import { places, Segment } from '../../spool/segment.js'
import { type Refusal, readDeadLetter } from '../../spool/spool-line.js'

/** A record to be sent, with its place on disk. */
export interface RecordToSend extends Restored {
  readonly lane: number
  readonly place: SentPlace
  /** The time at which the record was accepted, in milliseconds since 1970. */
  readonly time: number
  /** Why the service rejected it. Undefined for a record that is no dead letter. */
  readonly refusal: Refusal | undefined
}

/** The place of a record on disk. */
export interface SentPlace {
  readonly segment: Segment
  readonly number: number
  /** Bytes of its line. */
  readonly bytes: number
  rejected: boolean
}

/** The records in files of a spool that are not settled. */
export class RecordsToSend {
  readonly lanes: LaneName[] = []
  records = 0
  /** Bytes of their lines. */
  bytes = 0
  /** Places in the files where bytes are no record. */
  damaged = 0
  /** Records by lane. */
  readonly counts: number[] = []
  readonly #laneOf = new Map<string, number>()
  readonly #segments: { readonly segment: Segment; readonly damaged: boolean }[] = []
  readonly #unacknowledged = new Set<Segment>()

  readonly #chosen: (refusal: Refusal | undefined) => boolean

  private constructor(chosen: (refusal: Refusal | undefined) => boolean) {
    this.#chosen = chosen
  }

  /**
   * Rejects when a file cannot be read.
   *
   * @param chosen true for a record that is to be sent; the others stay where they are
   */
  static async of(
    files: readonly string[],
    chosen: (refusal: Refusal | undefined) => boolean = () => true,
  ): Promise<RecordsToSend> {
    const records = new RecordsToSend(chosen)
    for (const file of files) await records.#read(file)
    return records
  }

  async #read(path: string): Promise<void> {
    // A person may have corrected a dead letter.
    const read = deadLetterFile.test(basename(path)) ? { read: readDeadLetter } : {}
    const segment = new Segment({ path, lane: 0, severity: 0, ...read })
    const { damaged } = await segment.recover()
    for (let numbers = segment.oldest(places.left); numbers.length > 0; numbers = segment.oldest(places.left)) {
      for (const { number, line } of segment.read(numbers)) {
        const isChosen = line === undefined || this.#chosen(line.refusal)
        segment.move(number, isChosen ? places.disk : places.memory)
        if (line === undefined || !isChosen) continue
        const lane = this.#lane(line)
        this.counts[lane] = (this.counts[lane] ?? 0) + 1
        this.records++
        this.bytes += segment.bytesOf(number)
      }
    }
    this.damaged += damaged
    this.#segments.push({ segment, damaged: damaged > 0 })
    if (segment.settled) this.#unacknowledged.add(segment)
  }

  get allTaken(): boolean {
    return this.#segments.every(({ segment }) => segment.count(places.disk) === 0)
  }

  /** Take the next records, `wanted` at most. */
  take(wanted: number): RecordToSend[] {
    const records: RecordToSend[] = []
    for (const { segment } of this.#segments) {
      while (records.length < wanted && segment.count(places.disk) > 0) {
        for (const { number, line } of segment.read(
          segment.oldest(places.disk, { records: wanted - records.length, bytes: readBytes }),
        )) {
          segment.move(number, places.memory)
          if (line === undefined) continue
          const { body, severity, idempotencyKey, time, refusal } = line
          const place = { segment, number, bytes: segment.bytesOf(number), rejected: false }
          const bytes = Buffer.byteLength(body)
          records.push({ lane: this.#lane(line), body, bytes, severity, idempotencyKey, place, time, refusal })
        }
      }
    }
    return records
  }

  delivered({ segment, number }: SentPlace): void {
    segment.settle(number)
    this.#unacknowledged.add(segment)
  }

  /** Record on disk which records are delivered, and remove files that are done. Throws the errors of the file system. */
  acknowledge(): void {
    for (const segment of this.#unacknowledged) {
      segment.acknowledge()
      this.#unacknowledged.delete(segment)
      if (segment.settled) this.#remove(segment)
    }
  }

  #remove(segment: Segment): void {
    // A record may have been added at the last moment.
    if (statSync(segment.path).size !== segment.bytes) return
    if (this.#segments.some((each) => each.segment === segment && each.damaged)) {
      renameSync(segment.path, `${segment.path}.damaged`)
    }
    segment.remove()
  }

  #lane({ kind, bucket }: LaneName): number {
    const name = `${kind} ${bucket}`
    let lane = this.#laneOf.get(name)
    if (lane === undefined) {
      lane = this.lanes.push({ kind, bucket }) - 1
      this.#laneOf.set(name, lane)
    }
    return lane
  }
}

/** Bytes that are read at once, at most. */
const readBytes = 1_048_576
