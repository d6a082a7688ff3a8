import { randomUUID } from 'node:crypto'
import { systemClock } from '../delivery/clock.js'
import { Delivery } from '../delivery/delivery.js'
import type { LaneName, Ledger } from '../delivery/ledger.js'
import { UndiciSender } from '../http/undici-sender.js'
import type { ResolvedOptions } from '../options/options.js'
import { type MappedLog, RecordEncoder, type ValueFields } from '../records/encode.js'
import { severityOfNumber, valueSeverity } from '../records/level.js'
import { inUnit } from '../records/time.js'
import type { RecordKind } from '../records/wire.js'
import { ledgerLine, printLine, Telling } from './telling.js'
import { packageVersion } from './version.js'

/** One delivery with its lanes, its sender and its voice, set up from the options. */
export class Engine {
  readonly id = randomUUID()
  readonly lanes: readonly LaneName[]
  readonly telling: Telling
  readonly options: ResolvedOptions
  readonly #delivery: Delivery
  readonly #encoder: RecordEncoder
  readonly #logLane: number
  readonly #valueLane: number
  #closing: Promise<Ledger> | undefined

  /** @param kinds of record that it will be given; each has a lane where the options name a bucket for it */
  constructor(options: ResolvedOptions, kinds: readonly RecordKind[] = ['logs', 'values']) {
    this.options = options
    const buckets = { logs: options.logBucket, values: options.valueBucket }
    this.lanes = kinds.flatMap((kind) => (buckets[kind] === undefined ? [] : [{ kind, bucket: buckets[kind] }]))
    this.#logLane = this.lanes.findIndex(({ kind }) => kind === 'logs')
    this.#valueLane = this.lanes.findIndex(({ kind }) => kind === 'values')
    this.#encoder = new RecordEncoder({
      appName: options.appName,
      machineName: options.machineName,
      ...(options.env === undefined ? {} : { env: options.env }),
      ...(options.appVersion === undefined ? {} : { appVersion: options.appVersion }),
      runtimeVersion: options.runtimeVersion,
      runtime: options.runtime,
    })
    const clock = systemClock
    this.telling = new Telling({ clock, onError: options.onError, warn: (message) => this.#warn(message) })
    const { url, maxConnections, maxBatch, requestTimeoutMs, maxQueueRecords, maxQueueBytes } = options
    this.#delivery = new Delivery({
      lanes: this.lanes,
      clock,
      random: Math.random,
      observer: this.telling,
      limits: { maxQueueRecords, maxQueueBytes },
      maxConnections,
      maxBatch,
      requestTimeoutMs,
      retry: { baseMs: options.retryBaseMs, capMs: options.retryCapMs },
      probe: { baseMs: options.probeBaseMs, capMs: options.probeCapMs },
      keyPrefix: this.id,
      sender: new UndiciSender({
        url,
        apiKey: () => options.apiKey.reveal(),
        userAgent: `sluice/${packageVersion} node/${process.versions.node}`,
        maxConnections,
        requestTimeoutMs,
        clock,
      }),
    })
  }

  /** Memory of the ledger, readable from every thread of the process. */
  get memory(): SharedArrayBuffer {
    return this.#delivery.book.memory
  }

  get closed(): boolean {
    return this.#closing !== undefined
  }

  /** Accept a log record. */
  log({ fields, severity }: MappedLog): void {
    this.#delivery.accept(this.#logLane, { body: this.#encoder.log(fields), severity })
  }

  /** Accept a value record. */
  value(fields: ValueFields): void {
    this.#delivery.accept(this.#valueLane, { body: this.#encoder.value(fields), severity: valueSeverity })
  }

  /** A line that could not be read leaves a mark where it would have been. */
  unmapped(error: unknown): void {
    this.telling.misused('SLUICE_UNMAPPED', `a line could not be read: ${String(error)}`)
    this.#warn('sluice: a line could not be read')
  }

  /** A record for somebody who has closed his hold on this engine. */
  refuse(kind: RecordKind): void {
    this.#delivery.refuse(kind === 'logs' ? this.#logLane : this.#valueLane)
  }

  /** Count a `track` call with a bad number. */
  invalid(): void {
    this.#delivery.invalid()
  }

  #warn(message: string): void {
    if (this.#logLane === -1) return
    const timeStamp = inUnit(Date.now(), this.options.timestampUnit)
    this.log({ fields: { timeStamp, level: 'warn', message }, severity: severityOfNumber(40) })
  }

  stats(): Ledger {
    return this.#delivery.stats()
  }

  flush({ timeoutMs = this.options.shutdownTimeoutMs }: { timeoutMs?: number | undefined } = {}): Promise<Ledger> {
    return this.#delivery.flush({ timeoutMs })
  }

  close({ timeoutMs = this.options.shutdownTimeoutMs }: { timeoutMs?: number | undefined } = {}): Promise<Ledger> {
    this.#closing ??= this.#delivery.close({ timeoutMs }).then((ledger) => {
      this.telling.close()
      if (this.options.debug) printLine(ledgerLine(ledger))
      return ledger
    })
    return this.#closing
  }
}
