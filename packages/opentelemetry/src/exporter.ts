import { AsyncResource } from 'node:async_hooks'
import type { SluiceOptions } from 'sluice'
import { type SluicePinoStream, sluicePino } from 'sluice/pino'
import { reasonOf } from '../../../src/errors/text-of.js'
import { type Line, lineOf, lineStyle } from './line.js'
import type { OpenTelemetryRecord, OpenTelemetryResource } from './record.js'
import { type Service, serviceOf, serviceOptions } from './service.js'

/** OpenTelemetry's `ExportResult`: 0 for success, 1 for failure. */
interface ExportOutcome {
  readonly code: 0 | 1
  readonly error?: Error
}

const succeeded: ExportOutcome = { code: 0 }

/** The variables of the options that describe the service. */
const variables = {
  appName: 'SLUICE_APP_NAME',
  appVersion: 'SLUICE_APP_VERSION',
  env: 'SLUICE_ENV',
  machineName: 'SLUICE_MACHINE_NAME',
} as const satisfies Record<keyof Service, string>

/**
 * OpenTelemetry's exporter of log records: its API, with the queue, the spool and the ledger of Sluice.
 *
 *     new LoggerProvider({ processors: [new BatchLogRecordProcessor({ exporter: new SluiceLogRecordExporter() })] })
 *
 * Each record becomes a line for `sluicePino()` at once, so later changes to its values have no effect. Records are never changed. Attributes of
 * the resource are the service's name, version, environment and host where neither options nor `SLUICE_*` variables set them.
 *
 * While variables are missing or wrong it is off, with one line on stderr: exports then succeed and send nothing.
 *
 * @throws {ConfigError} for an option in code that is invalid or unknown
 */
export class SluiceLogRecordExporter {
  readonly #options: SluiceOptions
  /** By the service: each has an engine. Almost every process is one service. */
  readonly #streams = new Map<string, ServiceStream>()
  /** The SDK exports in the task of any record, whose context is not that of the others. */
  readonly #outsideTasks = new AsyncResource('SluiceLogRecordExporter')
  #closing: Promise<void> | undefined

  constructor(options: SluiceOptions = {}) {
    this.#options = options
    // A mistake in code is told where the exporter is made.
    if (Object.keys(options).length > 0) this.#streamFor({})
  }

  /**
   * Accepts records. Calls back before it returns: with code 0 once they are accepted (Sluice delivers them and accounts for them), with
   * code 1 and an error after {@link shutdown} or the process's `close()`. Never throws.
   */
  export(records: readonly OpenTelemetryRecord[], resultCallback: (result: ExportOutcome) => void): void {
    resultCallback(this.#outsideTasks.runInAsyncScope(() => this.#accept(records)))
  }

  /**
   * Waits until all accepted records are settled, but no longer than the option `shutdownTimeoutMs`. Never rejects: after a
   * rejection in the middle of an export, OpenTelemetry's batch processor exports nothing more. The ledger tells what is left: see `stats` of `sluice`.
   */
  async forceFlush(): Promise<void> {
    await Promise.all([...this.#streams.values()].map((stream) => stream.flush()))
  }

  /** Flushes as {@link forceFlush} does, then releases everything. Later exports fail. Idempotent. Never rejects. */
  shutdown(): Promise<void> {
    this.#closing ??= this.#end()
    return this.#closing
  }

  async #end(): Promise<void> {
    await Promise.all([...this.#streams.values()].map((stream) => stream.end()))
  }

  #accept(records: readonly OpenTelemetryRecord[]): ExportOutcome {
    if (this.#closing !== undefined) return failure('the exporter is shut down')
    try {
      const arrivedAt = Date.now()
      let resource: OpenTelemetryResource | undefined
      let stream: ServiceStream | undefined
      for (const record of records) {
        // The SDK makes the attributes anew for each read.
        if (stream === undefined || record.resource !== resource) {
          resource = record.resource
          stream = this.#streamFor(serviceOf(resource.attributes))
        }
        stream.write(readable(record, arrivedAt))
      }
      return stream?.closed ? failure('Sluice is closed') : succeeded
    } catch (error) {
      return failure(reasonOf(error))
    }
  }

  #streamFor(described: Service): ServiceStream {
    const service = Object.fromEntries(
      serviceOptions.flatMap((option) => (this.#isSet(option) ? [] : [[option, described[option]]])),
    )
    const name = JSON.stringify(service)
    let stream = this.#streams.get(name)
    if (stream === undefined) {
      stream = new ServiceStream(sluicePino({ ...this.#options, ...service }))
      this.#streams.set(name, stream)
    }
    return stream
  }

  #isSet(option: keyof Service): boolean {
    return this.#options[option] !== undefined || /[^\s"']/.test(process.env[variables[option]] ?? '')
  }
}

/** The stream of one service, which gets lines as pino writes them. */
class ServiceStream {
  readonly #stream: SluicePinoStream

  constructor(stream: SluicePinoStream) {
    this.#stream = stream
    // As pino tells a stream about its logger. Without numbers of its own, the option `level` counts by the importance of levels.
    const levels = {}
    stream.lastLogger = { levels }
    stream.emit('message', { code: 'PINO_CONFIG', config: { levels, ...lineStyle } })
  }

  /** True once the process has closed Sluice. */
  get closed(): boolean {
    return this.#stream.closed
  }

  write({ text, level }: Line): void {
    this.#stream.lastLevel = level
    this.#stream.write(text)
  }

  flush(): Promise<void> {
    return new Promise((resolve) => this.#stream.flush(() => resolve()))
  }

  end(): Promise<void> {
    return new Promise((resolve) => {
      this.#stream.once('close', resolve)
      this.#stream.end()
    })
  }
}

/** The line of a record. For one that cannot be read, a line that says so. */
function readable(record: OpenTelemetryRecord, arrivedAt: number): Line {
  try {
    return lineOf(record, arrivedAt)
  } catch (error) {
    const message = `sluice: a log record could not be read: ${reasonOf(error)}`
    return { text: JSON.stringify({ level: 40, time: arrivedAt, [lineStyle.messageKey]: message }), level: 40 }
  }
}

function failure(reason: string): ExportOutcome {
  return { code: 1, error: new Error(`log records were not accepted: ${reason}`) }
}
