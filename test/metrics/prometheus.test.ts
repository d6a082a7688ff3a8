import { setImmediate } from 'node:timers/promises'
import { createSluice, stats } from 'sluice'
import { prometheusText } from 'sluice/metrics'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readMarkdown } from '../documents/markdown.js'
import { parsePrometheusText, samplesByName } from '../support/prometheus-text.js'
import { startTestReceiver, type TestReceiver } from '../support/receiver.js'

let receiver: TestReceiver
beforeEach(async () => {
  receiver = await startTestReceiver()
})
afterEach(() => receiver.close())

const counters = () =>
  parsePrometheusText(prometheusText())
    .filter(({ type }) => type === 'counter')
    .flatMap(({ samples }) => samples)
    .map(({ name, labels, value }) => [JSON.stringify([name, labels]), value] as const)

describe('the text for Prometheus', () => {
  it('is of the format, in base units, and counters alone end in _total', async () => {
    await using sluice = createSluice(receiver.options)
    sluice.track(1001)
    const metrics = parsePrometheusText(prometheusText())
    expect(metrics.length).toBeGreaterThan(15)
    for (const { name, type, help } of metrics) {
      expect(name).toMatch(/^sluice_[a-z_]+$/)
      expect(name.endsWith('_total')).toBe(type === 'counter')
      expect(name).not.toMatch(/_(ms|milliseconds|kib|mib)(_|$)/)
      expect(help).toMatch(/^[A-Z].*\.$/)
    }
  })

  it('has the metrics that the guide lists, with their types', async () => {
    await using _sluice = createSluice(receiver.options)
    const rows = readMarkdown('docs/metrics.md').rows.prometheus ?? []
    const listed = rows.flatMap(([names = '', type = '']) =>
      [...names.matchAll(/`(sluice_\w+)`/g)].map(([, name]) => `${name} ${type}`),
    )
    const metrics = parsePrometheusText(prometheusText())
    expect(listed.sort()).toEqual(metrics.map(({ name, type }) => `${name} ${type}`).sort())
  })

  it('has the figures of the ledger', async () => {
    const before = samplesByName(prometheusText())
    const sluice = createSluice({ ...receiver.options, maxQueueRecords: 5000, maxQueueBytes: 2_000_000 })
    const live = samplesByName(prometheusText())
    expect(live.get('sluice_queue_capacity_records')).toBe(before.get('sluice_queue_capacity_records')! + 5000)
    expect(live.get('sluice_queue_capacity_bytes')).toBe(before.get('sluice_queue_capacity_bytes')! + 2_000_000)
    for (let event = 0; event < 10; event++) sluice.track(1001)
    sluice.track(Number.NaN)
    await sluice.close()
    sluice.track(1002)
    const after = samplesByName(prometheusText())
    const name = `values ${receiver.project}`
    const grown = (metric: string) => after.get(metric)! - (before.get(metric) ?? 0)
    expect(grown(`sluice_records_accepted_total ${name}`)).toBe(11)
    expect(grown(`sluice_records_delivered_total ${name}`)).toBe(10)
    expect(grown(`sluice_records_dropped_total ${name} closed`)).toBe(1)
    expect(grown('sluice_invalid_events_total')).toBe(1)
    const { accepted, deliveredBytes, dropped } = stats()
    const sum = (metric: string) =>
      [...after].reduce((sum, [key, value]) => (key.startsWith(`${metric} `) ? sum + value : sum), 0)
    expect(sum('sluice_records_accepted_total')).toBe(accepted)
    expect(sum('sluice_delivered_bytes_total')).toBe(deliveredBytes)
    for (const [reason, count] of Object.entries(dropped)) {
      expect(after.get(`sluice_records_dropped_total ${name} ${reason}`)).toBe(count)
    }
    expect(after.get('sluice_queue_capacity_records')).toBe(before.get('sluice_queue_capacity_records'))
  })

  it('shows the worst state of the lanes of one name, and closed only where all are', async () => {
    const states = () =>
      [...samplesByName(prometheusText())].flatMap(([key, value]) =>
        key.startsWith(`sluice_lane_state values ${receiver.project} `) && value === 1 ? key.split(' ').at(-1) : [],
      )
    const sluice = createSluice(receiver.options)
    await using other = createSluice({ ...receiver.options, apiKey: 'wrong' })
    expect(states()).toEqual(['open'])
    other.track(1001)
    while (states()[0] !== 'paused') await setImmediate()
    await other.close({ timeoutMs: 0 })
    expect(states()).toEqual(['open'])
    await sluice.close()
    expect(states()).toEqual(['closed'])
  })

  it('has no counter that ever goes down, while engines come, deliver, lose records and go', async () => {
    const highest = new Map<string, number>()
    let looks = 0
    const look = () => {
      const now = counters()
      expect(now.filter(([name, value]) => value < (highest.get(name) ?? 0))).toEqual([])
      expect([...highest.keys()].filter((name) => !now.some(([each]) => each === name))).toEqual([])
      for (const [name, value] of now) highest.set(name, value)
      looks++
    }
    const refused = [{ apiKey: 'wrong' }, { bucket: 'none' }].map((options) => ({ options, timeoutMs: 50 }))
    const taken = [{}, { maxQueueRecords: 100 }, {}].map((options) => ({ options, timeoutMs: 8000 }))
    for (const { options, timeoutMs } of [...taken, ...refused]) {
      const sluice = createSluice({ ...receiver.options, ...options })
      for (let event = 0; event < 300; event++) {
        sluice.track(1001)
        if (event % 50 === 0) look()
      }
      let isClosed = false
      const closed = sluice.close({ timeoutMs }).then(() => {
        isClosed = true
      })
      while (!isClosed) {
        look()
        await setImmediate()
      }
      await closed
      look()
    }
    expect(looks).toBeGreaterThan(40)
    expect(stats().delivered).toBeGreaterThanOrEqual(600)
    expect(stats().dropped.shutdown).toBeGreaterThan(0)
  })
})
