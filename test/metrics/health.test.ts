import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSluice } from 'sluice'
import { health } from 'sluice/metrics'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { startTestReceiver, type TestReceiver } from '../support/receiver.js'

let data: string
let receiver: TestReceiver
beforeEach(async () => {
  data = mkdtempSync(join(tmpdir(), 'sluice-health-'))
  receiver = await startTestReceiver({ data })
})
afterEach(async () => {
  await receiver.close()
  rmSync(data, { recursive: true })
})

/** The process is shared by the tests of this file: each looks at the lane of its bucket. */
const laneOf = (bucket: string) => health().lanes.find((lane) => lane.kind === 'values' && lane.bucket === bucket)
const becomes = (bucket: string, status: string) =>
  vi.waitFor(() => expect(laneOf(bucket)?.status).toBe(status), { timeout: 20_000, interval: 5 })

describe('the health of the process', () => {
  it('is ok while records are delivered', async () => {
    await using sluice = createSluice(receiver.options)
    sluice.track(1001)
    await sluice.flush()
    const { status, since, reason } = health()
    expect({ status, reason }).toEqual({ status: 'ok', reason: undefined })
    expect(Math.abs(Date.parse(since) - Date.now())).toBeLessThan(60_000)
    expect(new Date(since).toISOString()).toBe(since)
  })

  it('is degraded while the service is stopped, and ok again when it is back', async () => {
    const { url, apiKey } = receiver
    await using sluice = createSluice({ ...receiver.options, retryBaseMs: 10, retryCapMs: 50 })
    await receiver.close()
    sluice.track(1001)
    await becomes(receiver.project, 'degraded')
    expect(laneOf(receiver.project)).toMatchObject({ state: 'outage', reason: expect.stringContaining('ECONNREFUSED') })
    receiver = await startTestReceiver({ data, port: Number(new URL(url).port), knownKey: apiKey })
    await becomes(receiver.project, 'ok')
  })

  it('is failing while the key is wrong', async () => {
    const sluice = createSluice({ ...receiver.options, bucket: 'wrong-key', apiKey: 'wrong' })
    sluice.track(1001)
    await becomes('wrong-key', 'failing')
    expect(laneOf('wrong-key')).toMatchObject({ state: 'paused', reason: expect.stringContaining('401') })
    expect(health()).toMatchObject({ status: 'failing', reason: expect.stringContaining('wrong-key') })
    await sluice.close({ timeoutMs: 0 })
    expect(laneOf('wrong-key')).toMatchObject({ state: 'closed', status: 'degraded' })
  })

  it('is failing while memory is full and records are dropped', async () => {
    await receiver.close()
    const sluice = createSluice({ ...receiver.options, bucket: 'full', maxQueueRecords: 10 })
    for (let event = 0; event < 10; event++) sluice.track(1001)
    await becomes('full', 'degraded')
    for (let event = 0; event < 10; event++) sluice.track(1001)
    await becomes('full', 'failing')
    expect(laneOf('full')?.reason).toBe('values of bucket full are dropped for want of room: queue-full')
    await sluice.close({ timeoutMs: 0 })
  })
})
