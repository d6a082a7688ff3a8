import { afterEach, describe, expect, it, vi } from 'vitest'
import { type ParsedMetric, parsePrometheusText } from '../../../test/support/prometheus-text.js'
import { openSqlite } from '../dist/storage/sqlite/database.js'
import { dataFolder } from './data-folder.js'
import { killAll, ready } from './processes.js'
import { caller, log, startReceiverForTest, value } from './support.js'

const data = dataFolder()
afterEach(killAll)

async function scrape({ url, apiKey }: { url: string; apiKey: string | null }) {
  const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${apiKey}` } })
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  // An empty line between two metrics is ignored.
  const metrics = parsePrometheusText((await answer.text()).replaceAll('\n\n', '\n'))
  return {
    metrics,
    /** The value of the one sample with these labels. */
    sample(name: string, labels: Record<string, string> = {}): number | undefined {
      const samples = metrics.flatMap(({ samples }: ParsedMetric) => samples)
      const found = samples.filter(
        (each) => each.name === `sluice_receiver_${name}` && JSON.stringify(each.labels) === JSON.stringify(labels),
      )
      expect(found.length).toBeLessThan(2)
      return found[0]?.value
    },
  }
}

describe('GET /metrics', () => {
  it('counts requests, stored records, batches, commits and refusals in a receiver on disk', async () => {
    const receiver = await ready('--data', data.path)
    const call = caller(receiver)
    const before = await scrape(receiver)
    expect(before.sample('records_stored_total', { kind: 'logs' })).toBe(0)
    expect(before.sample('batch_records_count')).toBe(0)

    for (let turn = 0; turn < 3; turn++) await call('POST', '/logs/demo', log, { 'idempotency-key': 'same' })
    await call('POST', '/value_tracking/demo', value)
    await call('POST', '/logs/demo', { level: 1 })
    await call('POST', '/logs/nowhere', log)
    await call('GET', '/api/nothing')

    const after = await scrape(receiver)
    const posted = (status: string) => ({ method: 'POST', route: '/logs/:bucketId', status })
    expect(after.sample('requests_total', posted('201'))).toBe(3)
    expect(after.sample('requests_total', posted('400'))).toBe(1)
    expect(after.sample('requests_total', posted('404'))).toBe(1)
    expect(after.sample('requests_total', { method: 'GET', route: 'unknown', status: '404' })).toBe(1)
    expect(after.sample('requests_total', { method: 'GET', route: '/metrics', status: '200' })).toBe(1)
    expect(after.sample('records_stored_total', { kind: 'logs' })).toBe(1)
    expect(after.sample('records_stored_total', { kind: 'values' })).toBe(1)
    expect(after.sample('batch_records_sum')).toBe(4)
    expect(after.sample('batch_records_count')).toBe(4)
    expect(after.sample('commit_seconds_count')).toBe(4)
    expect(after.sample('commit_seconds_sum')).toBeGreaterThan(0)
    expect(after.sample('rejected_requests_total')).toBe(2)
    expect(after.sample('ready')).toBe(1)
    expect(after.sample('store_bytes')).toBeGreaterThan(10_000)
  })

  it('has as many series whatever buckets, applications, keys and paths there are', async () => {
    const receiver = await startReceiverForTest()
    const use = async (name: string) => {
      await receiver.call('POST', '/api/projects', { id: name })
      await receiver.call('POST', `/logs/${name}`, { ...log, appName: name, level: name })
      await receiver.call('POST', `/logs/no-${name}`, log)
      await receiver.call('GET', `/${name}?q=${name}`)
    }
    const series = async () => (await scrape(receiver)).metrics.flatMap(({ samples }) => samples)
    await use('first')
    await scrape(receiver)
    const names = (await series()).map(({ name, labels }) => name + JSON.stringify(labels))
    for (let turn = 0; turn < 20; turn++) await use(`other-${turn}`)
    expect((await series()).map(({ name, labels }) => name + JSON.stringify(labels))).toEqual(names)
    await receiver.close()
  })

  it('shows the live readers, and counts a stream when its client has gone', async () => {
    const receiver = await startReceiverForTest()
    expect((await scrape(receiver)).sample('live_readers')).toBe(0)
    const stop = new AbortController()
    const headers = { 'x-api-key': receiver.apiKey! }
    await fetch(`${receiver.url}/api/live?bucket=demo`, { headers, signal: stop.signal })
    expect((await scrape(receiver)).sample('live_readers')).toBe(1)
    stop.abort()
    const streams = { method: 'GET', route: '/api/live', status: '200' }
    await vi.waitUntil(async () => (await scrape(receiver)).sample('requests_total', streams) === 1)
    expect((await scrape(receiver)).sample('live_readers')).toBe(0)
    await receiver.close()
  })

  it('says 0 for ready while the store takes no write', async () => {
    const receiver = await ready('--data', data.path)
    expect((await scrape(receiver)).sample('ready')).toBe(1)
    const other = openSqlite(data.file('receiver.sqlite'))
    other.exec('BEGIN IMMEDIATE')
    await vi.waitUntil(async () => (await scrape(receiver)).sample('ready') === 0, { timeout: 20_000 })
    other.exec('ROLLBACK')
    other.close()
    await vi.waitUntil(async () => (await scrape(receiver)).sample('ready') === 1, { timeout: 20_000 })
  })
})
