import { reasonOf } from '../errors/text-of.js'
import type { SluiceOptions } from '../options/options.js'
import type { Resolution } from '../options/resolve.js'
import { withResource } from '../options/resource.js'
import { configureOrOff } from '../process/configure.js'
import { type EngineLease, leaseEngine } from '../process/engine-lease.js'
import { controlling } from '../records/line-control.js'
import { type OpenTelemetryRecord, openTelemetryMapper } from '../records/opentelemetry-record.js'
import { currentGate, type LevelGate } from './level-gate.js'

/** The part of OpenTelemetry's `Resource` that is read here. */
interface Resource {
  readonly attributes: Readonly<Record<string, unknown>>
}

/** A record of OpenTelemetry's SDK with the service that it comes from. */
interface ExportedRecord extends OpenTelemetryRecord {
  readonly resource: Resource
}

/** OpenTelemetry's `ExportResult`: 0 for success, 1 for failure. */
interface ExportOutcome {
  readonly code: 0 | 1
  readonly error?: Error
}

const succeeded: ExportOutcome = { code: 0 }

/**
 * OpenTelemetry's exporter of log records: its API, with the queue, the spool and the ledger of Sluice.
 *
 *     new LoggerProvider({ processors: [new BatchLogRecordProcessor({ exporter: new SluiceLogRecordExporter() })] })
 *
 * Each record is mapped at once, so later changes to its values have no effect. Records are never changed. Attributes of the resource
 * are the service's name, version, environment and host where neither options nor `SLUICE_*` variables set them.
 *
 * While variables are missing or wrong it is off, with one line on stderr: exports then succeed and send nothing.
 *
 * @throws {ConfigError} for an option in code that is invalid or unknown
 */
export class SluiceLogRecordExporter {
  readonly #resolution: Resolution
  readonly #map: ReturnType<typeof openTelemetryMapper>
  readonly #passes: LevelGate
  /** By the service: each has an engine. Almost every process is one service. */
  readonly #leases = new Map<string, EngineLease>()
  #closing: Promise<void> | undefined

  constructor(options: SluiceOptions = {}) {
    this.#resolution = configureOrOff(options, 'logs')
    this.#passes = currentGate({
      level: this.#resolution.options.level,
      source: this.#resolution.sources.level,
      values: undefined,
      report: (text) => {
        const [lease] = this.#leases.values()
        lease?.engine.misused('SLUICE_CONFIG_INVALID', text)
      },
    })
    this.#map = openTelemetryMapper({
      ...controlling(this.#resolution.options),
      isBelow: (severity) => !this.#passes({ number: undefined, severity }),
    })
  }

  /**
   * Accepts records. Calls back before it returns: with code 0 once they are accepted (Sluice delivers them and accounts for them), with
   * code 1 and an error after {@link shutdown} or the process's `close()`. Never throws.
   */
  export(records: readonly ExportedRecord[], resultCallback: (result: ExportOutcome) => void): void {
    resultCallback(this.#accept(records))
  }

  /**
   * Waits until all accepted records are settled, but no longer than the option `shutdownTimeoutMs`. Never rejects: after a
   * rejection in the middle of an export, OpenTelemetry's batch processor exports nothing more. The ledger tells what is left: see `stats` of `sluice`.
   */
  async forceFlush(): Promise<void> {
    await Promise.all([...this.#leases.values()].map(({ engine }) => engine.flush()))
  }

  /** Flushes as {@link forceFlush} does, then releases everything. Later exports fail. Idempotent. Never rejects. */
  shutdown(): Promise<void> {
    this.#closing ??= this.#release()
    return this.#closing
  }

  async #release(): Promise<void> {
    await Promise.all([...this.#leases.values()].map((lease) => lease.release()))
  }

  #accept(records: readonly ExportedRecord[]): ExportOutcome {
    if (this.#closing !== undefined) return failure('the exporter is shut down')
    try {
      const arrivedAt = Date.now()
      let resource: Resource | undefined
      let lease: EngineLease | undefined
      for (const record of records) {
        // The SDK makes the attributes anew for each read.
        if (lease === undefined || record.resource !== resource) {
          resource = record.resource
          lease = this.#leaseFor(resource)
        }
        this.#log(record, { engine: lease.engine, arrivedAt })
      }
      return lease?.engine.closed ? failure('Sluice is closed') : succeeded
    } catch (error) {
      return failure(reasonOf(error))
    }
  }

  #log(record: ExportedRecord, { engine, arrivedAt }: { engine: EngineLease['engine']; arrivedAt: number }): void {
    try {
      const mapped = this.#map(record, arrivedAt)
      if (this.#passes({ number: undefined, severity: mapped.severity })) engine.log(mapped)
      else if (this.#resolution.options.keepForError !== undefined) engine.log({ ...mapped, below: true })
    } catch (error) {
      engine.unmapped(error)
    }
  }

  #leaseFor({ attributes }: Resource): EngineLease {
    const resolution = withResource(this.#resolution, attributes)
    const { appName, appVersion, env, machineName } = resolution.options
    const service = JSON.stringify([appName, appVersion, env, machineName])
    let lease = this.#leases.get(service)
    if (lease === undefined) {
      lease = leaseEngine(resolution)
      this.#leases.set(service, lease)
    }
    return lease
  }
}

function failure(reason: string): ExportOutcome {
  return { code: 1, error: new Error(`log records were not accepted: ${reason}`) }
}
