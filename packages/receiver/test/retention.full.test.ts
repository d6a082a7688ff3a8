import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Retention } from '../dist/retention/retention.js'
import { RetentionClock } from '../dist/retention/retention-clock.js'
import { SqliteStorage } from '../dist/storage/sqlite/sqlite-storage.js'
import { dataFolder } from './data-folder.js'
import { killAll, ready } from './processes.js'
import { storeRecords } from './stored-records.js'
import { caller, log, startReceiverForTest } from './support.js'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const noon = Date.UTC(2026, 0, 31, 12)

/** Resolves when it is true, also on a busy machine. */
const until = (isTrue: () => boolean | Promise<boolean>) => vi.waitUntil(isTrue, { timeout: 20_000 })
/** Clocks that the test sets. */
const clocks = { wallMs: noon, monotonicMs: 5 }
const ofTest = { wall: () => clocks.wallMs, monotonic: () => clocks.monotonicMs }
const pass = (ms: number) => {
  clocks.wallMs += ms
  clocks.monotonicMs += ms
}
beforeEach(() => {
  Object.assign(clocks, { wallMs: noon, monotonicMs: 5 })
})

describe('the clock of retention', () => {
  const started = () => new RetentionClock({ graceMs: hour, clocks: ofTest })

  it('goes on while the wall clock is set forward, and follows it after the time of grace', () => {
    const clock = started()
    clocks.wallMs += 400 * day
    expect(clock.now()).toBe(noon)
    pass(hour - 1)
    expect(clock.now()).toBe(noon + hour - 1)
    pass(1)
    expect(clock.now()).toBe(noon + 400 * day + hour)
    pass(minute)
    expect(clock.now()).toBe(noon + 400 * day + hour + minute)
  })

  it('forgets a wall clock that was set forward and then set right', () => {
    const clock = started()
    clocks.wallMs += day
    expect(clock.now()).toBe(noon)
    clocks.wallMs -= day
    pass(hour)
    expect(clock.now()).toBe(noon + hour)
    clocks.wallMs += day
    expect(clock.now()).toBe(noon + hour)
  })

  it('follows a wall clock that is set back at once', () => {
    const clock = started()
    clocks.wallMs -= day
    expect(clock.now()).toBe(noon - day)
  })
})

describe('retention', () => {
  // Ten rounds in this time, by the clock of the machine.
  const retainMs = 500
  let storage: SqliteStorage
  let retention: Retention | undefined
  let said: string[]
  beforeEach(() => {
    storage = new SqliteStorage(':memory:')
    vi.useFakeTimers({ toFake: ['Date'], now: noon })
    said = []
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => said.push(String(text)) > 0)
  })
  afterEach(async () => {
    await retention?.stop()
    retention = undefined
    vi.restoreAllMocks()
    vi.useRealTimers()
    await storage.close()
  })

  /** Stores records that were received at a time. */
  async function store(at: number, count = 1): Promise<void> {
    vi.setSystemTime(at)
    const record = { kind: 'logs', bucket: 'demo', idempotencyKey: undefined, record: log } as const
    await Promise.all(Array.from({ length: count }, () => storage.records.append(record)))
  }
  function start(records: Pick<SqliteStorage['records'], 'forget' | 'receiptsAround'> = storage.records): void {
    retention = new Retention(records, { retainMs, clocks: ofTest })
    retention.start()
  }
  const total = async () => (await storage.records.read({ kind: 'logs', bucket: 'demo', limit: 1 })).total
  /** The storage, whose calls the test counts and lets fail. */
  function watched() {
    const calls = { forget: 0, receiptsAround: 0 }
    const failures: Error[] = []
    const call = async <Result>(name: keyof typeof calls, work: () => Promise<Result>) => {
      calls[name]++
      const failure = failures.shift()
      if (failure !== undefined) throw failure
      return work()
    }
    return {
      calls,
      failures,
      forget: (before: number) => call('forget', () => storage.records.forget(before)),
      receiptsAround: (ms: number) => call('receiptsAround', () => storage.records.receiptsAround(ms)),
    }
  }

  it('forgets all records that are too old at the start, in steps, and later those that get too old', async () => {
    await store(noon - retainMs - 1, 2500)
    await store(noon - retainMs, 2)
    await store(noon, 3)
    start()
    await until(async () => (await total()) === 5)
    pass(1)
    await until(async () => (await total()) === 3)
    pass(retainMs)
    await until(async () => (await total()) === 0)
    expect(said).toEqual([])
  })
  it('tells an error once, and tries again', async () => {
    await store(noon - retainMs - 1)
    await store(noon - 1)
    const records = watched()
    records.failures.push(new Error('no such table'), new Error('database is locked'))
    start(records)
    await until(async () => (await total()) === 1)
    expect(said).toEqual(['sluice-receiver: cannot delete old records, and tries again: no such table\n'])
    // The round that has deleted it ends before the next one begins.
    const since = records.calls.forget
    await until(() => records.calls.forget > since + 1)
    records.failures.push(new Error('again'))
    await until(() => said.length === 2)
  })

  it('keeps what a clock that was set forward makes too old, until the time of grace is over', async () => {
    await store(noon, 3)
    const records = watched()
    start(records)
    await until(() => records.calls.forget > 0)
    clocks.wallMs += 400 * day
    await store(noon + 400 * day)
    const since = records.calls.forget
    await until(() => records.calls.forget > since + 2)
    expect(await total()).toBe(4)
    pass(retainMs)
    await until(async () => (await total()) === 1)
  })

  it('keeps, at a start long after the newest record, what got too old meanwhile, says so, and deletes it after the time of grace', async () => {
    await store(noon - 3 * day)
    await store(noon - 2 * day)
    start()
    await until(() => said.length === 1)
    expect(said).toEqual([
      'sluice-receiver: by the clock, the records up to 2026-01-29T12:00:00.000Z are too old (--retain). They are deleted from 2026-01-31T12:00:00.500Z on, unless a clock that is wrong is set\n',
    ])
    pass(retainMs - 1)
    expect(await total()).toBe(2)
    pass(1)
    await until(async () => (await total()) === 0)
  })

  it('keeps them also if a receiver ran for a while since then, but not longer than the time of grace after its first record', async () => {
    await store(noon - 2 * day)
    await store(noon - retainMs + 100)
    start()
    await until(() => said.length === 1)
    expect(await total()).toBe(2)
    pass(99)
    expect(await total()).toBe(2)
    pass(1)
    await until(async () => (await total()) < 2)
  })

  it('does not wait for records that got too old while others came', async () => {
    for (let at = noon - 4 * retainMs; at <= noon; at += retainMs) await store(at)
    start()
    await until(async () => (await total()) === 2)
    expect(said).toEqual([])
  })

  it('ends between two steps when it is stopped', async () => {
    await store(noon - retainMs - 1, 5000)
    await store(noon - 1)
    const records = watched()
    start(records)
    await until(() => records.calls.forget > 0)
    await retention?.stop()
    const left = await total()
    expect(left).toBeGreaterThan(1)
    await new Promise(setImmediate)
    expect(await total()).toBe(left)
  })
})

describe('a receiver with --retain', () => {
  const data = dataFolder()
  afterEach(killAll)

  it('deletes old records, keeps the others, and shows the time of the oldest', async () => {
    const first = await startReceiverForTest({ data: data.path })
    for (const message of ['old', 'older', 'new']) await first.call('POST', '/logs/demo', { ...log, message })
    await first.close()
    const now = Date.now()
    data.inDatabase((database) => {
      const set = database.prepare('UPDATE records SET received_at = ? WHERE id = ?')
      set.run(now - 110 * minute, 1)
      set.run(now - 61 * minute, 2)
      set.run(now - 2 * minute, 3)
    })
    const receiver = await ready('--data', data.path, '--retain', '1h')
    const call = caller({ url: receiver.url, apiKey: first.apiKey })
    await until(async () => (await call('GET', '/api/logs/demo')).body.total === 1)
    expect((await call('GET', '/api/logs/demo?text=old')).body.total).toBe(0)
    expect((await call('GET', '/api/logs/demo?text=new')).body.list).toMatchObject([{ id: 3, message: 'new' }])
    const metric = /^sluice_receiver_oldest_record_seconds (.*)$/m
    const oldest = async () => metric.exec(String((await call('GET', '/metrics')).body))?.[1]
    expect(Number(await oldest())).toBe((now - 2 * minute) / 1000)
  })

  it('answers all readers while it deletes', async () => {
    await storeRecords(data.path, 10_000)
    data.inDatabase((database) =>
      database.prepare('UPDATE records SET received_at = ?1 - 7200000 + id * 720').run(Date.now() - minute),
    )
    const receiver = await startReceiverForTest({ data: data.path, retain: '1h' })
    const paths = ['limit=1000', 'limit=100&text=customer', 'limit=100&before=5000&level=info'].map(
      (query) => `/api/logs/demo?${query}`,
    )
    const totals: number[] = []
    await vi.waitUntil(
      async () => {
        const answers = await Promise.all(
          [...paths, '/api/facets/logs?bucket=demo'].map((path) => receiver.call('GET', path)),
        )
        expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
        totals.push(answers[0]!.body.total)
        return totals.at(-1)! < 5200
      },
      { timeout: 60_000, interval: 1 },
    )
    expect(totals.length).toBeGreaterThan(3)
    expect(totals).toEqual([...totals].sort((a, b) => b - a))
    await receiver.close()
  })

  it('deletes nothing without the option, and has no time of the oldest without records', async () => {
    const receiver = await startReceiverForTest()
    const metrics = await receiver.call('GET', '/metrics')
    expect(metrics.body).toContain('# TYPE sluice_receiver_oldest_record_seconds gauge')
    expect(metrics.body).not.toMatch(/^sluice_receiver_oldest_record_seconds/m)
    await receiver.close()
  })

  it.each(['7', '0d', '60s', '1.5h', '', 'week'])('does not start with %j', async (retain) => {
    await expect(startReceiverForTest({ retain })).rejects.toThrow(
      new TypeError(`retain: expected minutes, hours or days, at least 1m, such as 7d, got ${JSON.stringify(retain)}`),
    )
  })
})
