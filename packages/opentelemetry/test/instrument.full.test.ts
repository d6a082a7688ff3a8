import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'
import * as conventions from '@opentelemetry/semantic-conventions/incubating'
import { createSluice } from 'sluice'
import { instrument } from 'sluice-opentelemetry'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startTestReceiver, type TestReceiver } from '../../../test/support/receiver.js'

/** Collects when the test asks for it. */
class ManualReader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

let receiver: TestReceiver
let reader: ManualReader
let provider: MeterProvider
beforeEach(async () => {
  receiver = await startTestReceiver()
  reader = new ManualReader()
  provider = new MeterProvider({ readers: [reader] })
})
afterEach(async () => {
  await provider.shutdown()
  await receiver.close()
})

async function collected() {
  const { resourceMetrics, errors } = await reader.collect()
  expect(errors).toEqual([])
  return resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics)
}

/** The sum of a metric over the points with these attributes. */
async function total(name: string, wanted: Record<string, string | undefined>): Promise<number> {
  const points = (await collected()).find(({ descriptor }) => descriptor.name === name)?.dataPoints ?? []
  return points
    .filter(({ attributes }) => Object.entries(wanted).every(([key, value]) => attributes[key] === value))
    .reduce((sum, { value }) => sum + Number(value), 0)
}

const { METRIC_OTEL_SDK_PROCESSOR_LOG_QUEUE_SIZE: size, METRIC_OTEL_SDK_PROCESSOR_LOG_QUEUE_CAPACITY: capacity } =
  conventions
const { METRIC_OTEL_SDK_PROCESSOR_LOG_PROCESSED: processed, ATTR_ERROR_TYPE: errorType } = conventions
const { ATTR_OTEL_COMPONENT_NAME: componentName, ATTR_OTEL_COMPONENT_TYPE: componentType } = conventions

describe('a meter of OpenTelemetry', () => {
  it('gets the names, units and kinds of the semantic conventions', async () => {
    instrument(provider.getMeter('shop'))
    await using sluice = createSluice(receiver.options)
    sluice.track(1001)
    const metrics = await collected()
    expect(metrics.map(({ descriptor: { name, unit } }) => [name, unit]).sort()).toEqual(
      [size, capacity, processed].map((name) => [name, '{log_record}']).sort(),
    )
    const monotonic = metrics.filter((metric) => 'isMonotonic' in metric && metric.isMonotonic)
    expect(monotonic.map(({ descriptor }) => descriptor.name)).toEqual([processed])
    for (const { dataPoints } of metrics) {
      for (const { attributes } of dataPoints) {
        expect(attributes).toMatchObject({ [componentName]: 'sluice', [componentType]: 'sluice' })
      }
    }
  })

  it('gets the records that memory holds, and the most that it may hold', async () => {
    instrument(provider.getMeter('shop'))
    const before = await total(capacity, {})
    const sluice = createSluice({ url: 'http://127.0.0.1:1', apiKey: 'k', bucket: 'held', maxQueueRecords: 4000 })
    for (let event = 0; event < 7; event++) sluice.track(1001)
    expect(await total(size, { 'sluice.kind': 'values', 'sluice.bucket': 'held' })).toBe(7)
    expect(await total(capacity, {})).toBe(before + 4000)
    await sluice.close({ timeoutMs: 0 })
    expect(await total(size, { 'sluice.bucket': 'held' })).toBe(0)
    expect(await total(processed, { 'sluice.bucket': 'held', [errorType]: 'shutdown' })).toBe(7)
  })

  it('gets settled records, with error.type where they were not delivered', async () => {
    instrument(provider.getMeter('shop'))
    const here = { 'sluice.kind': 'values', 'sluice.bucket': receiver.project }
    const before = await total(processed, { ...here, [errorType]: undefined })
    const sluice = createSluice(receiver.options)
    for (let event = 0; event < 5; event++) sluice.track(1001)
    await sluice.close()
    sluice.track(1002)
    expect(await total(processed, { ...here, [errorType]: undefined })).toBe(before + 5)
    expect(await total(processed, { ...here, [errorType]: 'closed' })).toBe(1)
    expect(await total(processed, { ...here, [errorType]: 'queue_full' })).toBe(0)
  })

  it('gets nothing new after the end of the observation, which may be asked for twice', async () => {
    const stop = instrument(provider.getMeter('shop'))
    await using sluice = createSluice(receiver.options)
    sluice.track(1001)
    await sluice.flush()
    const before = await total(processed, {})
    expect(before).toBeGreaterThan(0)
    stop()
    stop()
    sluice.track(1001)
    await sluice.flush()
    expect(await total(processed, {})).toBe(before)
  })

  it.each([undefined, null, 7, {}, { createObservableCounter() {} }])('is told from %j', (meter) => {
    expect(() => instrument(meter as never)).toThrow(/^instrument: expected a meter of OpenTelemetry, got /)
    expect(() => instrument(meter as never)).toThrow(TypeError)
  })
})
