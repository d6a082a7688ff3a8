import { beforeEach, describe, expect, it } from 'vitest'
import { dropReasons, type LaneReport, type LaneState } from '../../src/delivery/ledger.js'
import { LedgerBook } from '../../src/delivery/ledger-book.js'
import { HealthWatch } from '../../src/metrics/health-watch.js'
import { laneFigures } from '../../src/metrics/lane-figures.js'

/** Milliseconds since the start of the test. */
let now: number
let watch: HealthWatch
let lanes: Readonly<Record<'logs' | 'values', LedgerBook>>
beforeEach(() => {
  now = 0
  const start = Date.parse('2026-01-01T00:00:00.000Z')
  watch = new HealthWatch({ clock: { now: () => now }, wallClock: () => start + now })
  lanes = {
    logs: new LedgerBook([{ kind: 'logs', bucket: 'b' }]),
    values: new LedgerBook([{ kind: 'values', bucket: 'b' }]),
  }
})

const look = () => watch.look(laneFigures({ lanes: [...lanes.logs.read().lanes, ...lanes.values.read().lanes] }))
const becomes = (book: LedgerBook, state: LaneState) =>
  book.describe(0, { state, connections: 1, depth: 1, sender: 'undici' })
function drops(book: LedgerBook, reason: keyof LaneReport['dropped']): void {
  book.move(0, 'none', 'queued', 1, 1)
  book.move(0, 'queued', reason, 1, 1)
}

describe('the health of lanes', () => {
  it('is ok while all deliver, and without any lane', () => {
    expect(look()).toMatchObject({ status: 'ok', reason: undefined, since: '2026-01-01T00:00:00.000Z' })
    expect(look().lanes.map(({ kind, status, state }) => [kind, status, state])).toEqual([
      ['logs', 'ok', 'open'],
      ['values', 'ok', 'open'],
    ])
    expect(watch.look([])).toMatchObject({ status: 'ok', lanes: [] })
  })

  it('is degraded in an outage, for its lane alone, from the call that saw it until it ends', () => {
    look()
    now = 1000
    becomes(lanes.logs, 'outage')
    lanes.logs.lastError(0, 'connect ECONNREFUSED')
    const reason = 'logs of bucket b wait for the service: connect ECONNREFUSED'
    const since = '2026-01-01T00:00:01.000Z'
    expect(look()).toMatchObject({ status: 'degraded', since, reason })
    now = 5000
    expect(look()).toMatchObject({ status: 'degraded', since, reason })
    expect(look().lanes).toMatchObject([
      { kind: 'logs', status: 'degraded', since, reason },
      { kind: 'values', status: 'ok', since: '2026-01-01T00:00:00.000Z', reason: undefined },
    ])
    becomes(lanes.logs, 'open')
    expect(look()).toMatchObject({ status: 'ok', since: '2026-01-01T00:00:05.000Z', reason: undefined })
  })

  it('is failing while a lane is paused', () => {
    becomes(lanes.values, 'paused')
    lanes.values.lastError(0, '401')
    const reason = 'values of bucket b wait until the key, the bucket or the plan is corrected: 401'
    expect(look()).toMatchObject({ status: 'failing', reason })
    becomes(lanes.values, 'open')
    expect(look().status).toBe('ok')
  })

  it.each(['queue-full', 'hand-off-full', 'spool-full'] as const)(
    'is failing for 30 s after a drop with %s, then degraded for the rest of 5 min',
    (reason) => {
      look()
      drops(lanes.logs, reason)
      const full = { status: 'failing', reason: `logs of bucket b are dropped for want of room: ${reason}` }
      expect(look()).toMatchObject(full)
      now = 20_000
      drops(lanes.logs, reason)
      look()
      now = 49_999
      expect(look()).toMatchObject(full)
      now = 50_000
      expect(look()).toMatchObject({ status: 'degraded', reason: `logs of bucket b were dropped: ${reason}` })
      now = 319_999
      expect(look().status).toBe('degraded')
      now = 320_000
      expect(look()).toMatchObject({ status: 'ok', since: '2026-01-01T00:05:20.000Z' })
    },
  )

  it.each(dropReasons.filter((reason) => !reason.endsWith('-full')))(
    'is degraded for 5 min after a drop with %s',
    (reason) => {
      drops(lanes.logs, reason)
      expect(look()).toMatchObject({ status: 'degraded', reason: `logs of bucket b were dropped: ${reason}` })
      now = 299_999
      expect(look().status).toBe('degraded')
      now = 300_000
      expect(look().status).toBe('ok')
    },
  )

  it('is that of the worst lane', () => {
    becomes(lanes.logs, 'outage')
    becomes(lanes.values, 'paused')
    expect(look().status).toBe('failing')
    expect(look().reason).toMatch(/^values /)
  })

  it('has the reason of a lane that names an error: one that waits with it, for the same key, may have none', () => {
    becomes(lanes.logs, 'paused')
    becomes(lanes.values, 'paused')
    expect(look().reason).toBe('logs of bucket b wait until the key, the bucket or the plan is corrected')
    lanes.values.lastError(0, '401')
    expect(look().reason).toBe('values of bucket b wait until the key, the bucket or the plan is corrected: 401')
  })

  it('is ok for a lane that is closed', () => {
    becomes(lanes.logs, 'closed')
    expect(look().status).toBe('ok')
  })
})
