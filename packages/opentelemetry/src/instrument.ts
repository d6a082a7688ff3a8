import { type Counts, stats } from 'sluice'
import { health } from 'sluice/metrics'
import { quoted } from '../../../src/errors/text-of.js'

/** Takes the numbers of one collection, as OpenTelemetry's `BatchObservableResult` does. */
export interface MetricsObservation {
  /** Give the value of an instrument for these attributes. */
  observe(instrument: object, value: number, attributes?: Record<string, string>): void
}

/** The part of OpenTelemetry's `Meter` that `instrument` uses. Any meter of `@opentelemetry/api` fits. */
export interface MetricsMeter {
  /** Makes a sum that only grows, read when metrics are collected. */
  createObservableCounter(name: string, options?: { readonly description?: string; readonly unit?: string }): object
  /** Makes a sum that grows and shrinks, read when metrics are collected. */
  createObservableUpDownCounter(
    name: string,
    options?: { readonly description?: string; readonly unit?: string },
  ): object
  /** Calls back when metrics are collected, once for all of these instruments. */
  addBatchObservableCallback(callback: (observation: MetricsObservation) => void, instruments: object[]): void
  /** Ends what `addBatchObservableCallback` began. */
  removeBatchObservableCallback(callback: (observation: MetricsObservation) => void, instruments: object[]): void
}

/** The attributes by which OpenTelemetry names a part of a telemetry library. */
const component = { 'otel.component.type': 'sluice', 'otel.component.name': 'sluice' }
const unit = '{log_record}'
const methods = [
  'createObservableCounter',
  'createObservableUpDownCounter',
  'addBatchObservableCallback',
  'removeBatchObservableCallback',
] as const

/**
 * Observes the ledger of the whole process, pino's workers included, with a meter of OpenTelemetry and under the names of its semantic
 * conventions. Everything is in records. The ledger is read when metrics are collected; there is no timer.
 *
 * - `otel.sdk.processor.log.queue.size` and `….capacity`: records in memory, those in flight included, and the most that it holds
 * - `otel.sdk.processor.log.processed`: settled records; `error.type` is absent for those that were delivered, `rejected`, or the reason of a
 *   drop such as `queue_full`
 *
 * The attributes `sluice.kind` (`logs` or `values`) and `sluice.bucket` name the lane.
 *
 * @returns ends the observation. Idempotent.
 * @throws {TypeError} if `meter` is no meter
 */
export function instrument(meter: MetricsMeter): () => void {
  const given: Partial<MetricsMeter> | null | undefined = meter
  if (methods.some((method) => typeof given?.[method] !== 'function')) {
    throw new TypeError(`instrument: expected a meter of OpenTelemetry, got ${quoted(meter)}`)
  }
  const size = meter.createObservableUpDownCounter('otel.sdk.processor.log.queue.size', {
    description: 'Records in memory, those in flight included.',
    unit,
  })
  const capacity = meter.createObservableUpDownCounter('otel.sdk.processor.log.queue.capacity', {
    description: 'The most records that memory holds.',
    unit,
  })
  const processed = meter.createObservableCounter('otel.sdk.processor.log.processed', {
    description: 'Records that are settled: delivered, rejected or dropped.',
    unit,
  })
  const observe = (observation: MetricsObservation) => {
    for (const { attributes, held, settled } of lanes()) {
      observation.observe(size, held, attributes)
      for (const [type, count] of settled) {
        observation.observe(processed, count, type === delivered ? attributes : { ...attributes, 'error.type': type })
      }
    }
    const most = health().capacity
    if (most !== undefined) observation.observe(capacity, most.records, component)
  }
  const instruments = [size, capacity, processed]
  meter.addBatchObservableCallback(observe, instruments)
  return () => meter.removeBatchObservableCallback(observe, instruments)
}

const delivered = 'delivered'

/** The records of one kind and bucket. */
interface LaneRecords {
  readonly attributes: Record<string, string>
  /** Records in memory, those in flight included. */
  held: number
  /** Settled records: delivered ones, and others by `error.type`. */
  readonly settled: Map<string, number>
}

/** Engines may have lanes with the same name. A meter takes one number for it. */
function lanes(): Iterable<LaneRecords> {
  const byName = new Map<string, LaneRecords>()
  for (const lane of stats().lanes) {
    const { kind, bucket } = lane
    const name = `${kind}/${bucket}`
    const attributes = { ...component, 'sluice.kind': kind, 'sluice.bucket': bucket }
    const records = byName.get(name) ?? { attributes, held: 0, settled: new Map() }
    byName.set(name, records)
    records.held += lane.queued + lane.inFlight
    for (const [type, count] of settledOf(lane)) records.settled.set(type, (records.settled.get(type) ?? 0) + count)
  }
  return byName.values()
}

/** Settled records. OpenTelemetry's conventions write an `error.type` with underscores. */
function settledOf({ delivered: count, rejected, dropped }: Counts): (readonly [type: string, count: number])[] {
  const drops = Object.entries(dropped).map(([reason, count]) => [reason.replaceAll('-', '_'), count] as const)
  return [[delivered, count], ['rejected', rejected], ...drops]
}
