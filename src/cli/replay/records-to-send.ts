import type { LaneName } from '../../delivery/ledger.js'
import type { Refusal, SpoolLine } from '../../spool/spool-line.js'
import { SentFile } from './sent-file.js'

/** A record to be sent, with its place on disk. */
export interface RecordToSend extends Pick<SpoolLine, 'body' | 'severity' | 'idempotencyKey' | 'refusal'> {
  readonly lane: number
  readonly place: SentPlace
}

/** The place of a record on disk. */
export interface SentPlace {
  readonly file: SentFile
  readonly number: number
  /** Bytes of its line. */
  readonly bytes: number
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
  readonly #files: SentFile[] = []
  readonly #unacknowledged = new Set<SentFile>()

  /**
   * Throws when a file cannot be read.
   *
   * @param chosen true for a record that is to be sent; the others stay where they are
   */
  constructor(paths: readonly string[], chosen: (refusal: Refusal | undefined) => boolean = () => true) {
    for (const path of paths) {
      const file = new SentFile(path, (line, bytes) => {
        const isChosen = chosen(line.refusal)
        if (isChosen) this.#count(line, bytes)
        return isChosen
      })
      this.damaged += file.damaged
      this.#files.push(file)
      if (file.isSettled) this.#unacknowledged.add(file)
    }
  }

  get allTaken(): boolean {
    return this.#files.every((file) => file.allTaken)
  }

  /** Take the next records, `wanted` at most. */
  take(wanted: number): RecordToSend[] {
    const records: RecordToSend[] = []
    for (const file of this.#files) {
      while (records.length < wanted && !file.allTaken) {
        for (const line of file.take(wanted - records.length)) {
          const { number, body, severity, idempotencyKey, refusal } = line
          const place = { file, number, bytes: file.bytesOf(number) }
          records.push({ lane: this.#lane(line), body, severity, idempotencyKey, refusal, place })
        }
      }
    }
    return records
  }

  delivered({ file, number }: SentPlace): void {
    file.delivered(number)
    this.#unacknowledged.add(file)
  }

  /** Record on disk which records are delivered, and remove files that are done. Throws the errors of the file system. */
  acknowledge(): void {
    for (const file of this.#unacknowledged) {
      file.acknowledge()
      this.#unacknowledged.delete(file)
    }
  }

  #count(line: SpoolLine, bytes: number): void {
    const lane = this.#lane(line)
    this.counts[lane] = (this.counts[lane] ?? 0) + 1
    this.records++
    this.bytes += bytes
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
