import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { full } from '../../../test/support/full.js'
import { dataFolder } from './data-folder.js'
import { log, startReceiverForTest, value } from './support.js'

const data = dataFolder()
let receiver: Awaited<ReturnType<typeof startReceiverForTest>>
beforeEach(async () => {
  receiver = await startReceiverForTest()
})
afterEach(() => receiver.close())

const noon = Date.parse('2026-01-31T12:00:00Z')
const second = 1000
const minute = 60_000
const hour = 60 * minute

async function send(...records: readonly object[]) {
  await Promise.all(
    records.map((record) => receiver.call('POST', '/logs/demo', { ...log, timeStamp: noon, ...record })),
  )
}
async function track(...records: readonly object[]) {
  await Promise.all(records.map((record) => receiver.call('POST', '/value_tracking/demo', { ...value, ...record })))
}
const counts = async (query = '', kind = 'logs') =>
  (await receiver.call('GET', `/api/${kind}/demo/counts?${query}`)).body
const iso = (ms: number) => new Date(ms).toISOString()

describe('counts of logs', () => {
  it('gives totals by level with the time of the last record, and steps that have records, oldest first', async () => {
    await send(
      { timeStamp: noon + 3 * minute, level: 'error' },
      { timeStamp: noon + 59.5 * second },
      { timeStamp: noon },
      { timeStamp: (noon + minute) / 1000 },
    )
    const totals = {
      by: 'level',
      total: 4,
      totals: { info: 3, error: 1 },
      lastSeen: { info: iso(noon + minute), error: iso(noon + 3 * minute) },
    }
    expect(await counts()).toEqual(totals)
    expect(await counts('by=level')).toEqual(totals)
    expect(await counts('step=1m')).toEqual({
      ...totals,
      stepMs: minute,
      list: [
        { time: iso(noon), counts: { info: 2 } },
        { time: iso(noon + minute), counts: { info: 1 } },
        { time: iso(noon + 3 * minute), counts: { error: 1 } },
      ],
    })
    expect((await counts('step=2m')).list).toEqual([
      { time: iso(noon), counts: { info: 3 } },
      { time: iso(noon + 2 * minute), counts: { error: 1 } },
    ])
    expect((await counts('step=1d')).list).toEqual([
      { time: '2026-01-31T00:00:00.000Z', counts: { info: 3, error: 1 } },
    ])
  })

  it('lets a step that begins before the year 0 begin with it', async () => {
    await send({ timeStamp: Date.parse('0000-01-01T12:00:00Z') }, { timeStamp: -9.9e13, level: 'error' })
    const list = [{ time: '0000-01-01T00:00:00.000Z', counts: { info: 1, error: 1 } }]
    for (const step of ['7d', '999999d']) expect(await counts(`step=${step}`)).toMatchObject({ total: 2, list })
  })

  it('answers for a bucket without records', async () => {
    expect(await counts('step=1h')).toEqual({ by: 'level', total: 0, totals: {}, lastSeen: {}, stepMs: hour, list: [] })
  })

  it('is exact at both ends of a time, on whole minutes and between them', async () => {
    const offsets = Array.from({ length: 400 }, (_, number) => number * 20 * second + (number % 7) * 100)
    await send(...offsets.map((offset, index) => ({ timeStamp: noon + offset, level: index % 3 ? 'info' : 'error' })))
    const total = async (since: number, until: number, more = '') => {
      const query = `since=${iso(noon + since)}&until=${iso(noon + until)}${more}`
      const { totals } = await counts(query)
      const stepped = await counts(`${query}&step=1h`)
      expect(stepped.totals).toEqual(totals)
      const summed: Record<string, number> = {}
      for (const step of stepped.list as { counts: Record<string, number> }[]) {
        for (const [level, count] of Object.entries(step.counts)) summed[level] = (summed[level] ?? 0) + count
      }
      expect(summed).toEqual(totals)
      return totals
    }
    for (const [since, until] of [
      [0, 10 * minute],
      [hour, 2 * hour],
      [17 * minute, 2 * hour + 5 * minute],
      [10 * second, 10 * minute + 30 * second],
      [20_100, 20_101],
      [20_101, 40_200],
      [30 * second, 50 * second],
      [minute, minute],
      [5 * minute, minute],
    ] as const) {
      const expected: Record<string, number> = {}
      for (const [index, offset] of offsets.entries()) {
        const level = index % 3 ? 'info' : 'error'
        if (offset >= since && offset < until) expected[level] = (expected[level] ?? 0) + 1
      }
      expect([since, until, await total(since, until)]).toEqual([since, until, expected])
      const { error } = expected
      expect(await total(since, until, '&level=error')).toEqual(error === undefined ? {} : { error })
    }
  })

  it('takes the filters of reading', async () => {
    await send(
      { level: 'warn', message: 'red fox', appName: 'web' },
      { level: 'error', message: 'red hen', timeStamp: noon + minute },
      { level: 'debug', message: 'blue hen', eventId: 5 },
    )
    const totals = async (query: string) => (await counts(query)).totals
    expect(await totals('level=warn,debug')).toEqual({ warn: 1, debug: 1 })
    expect(await totals('minLevel=warn')).toEqual({ warn: 1, error: 1 })
    expect(await totals('notLevel=warn')).toEqual({ error: 1, debug: 1 })
    expect(await totals('text=red')).toEqual({ warn: 1, error: 1 })
    expect(await totals('text=red&notText=fox')).toEqual({ error: 1 })
    expect(await totals('appName=web')).toEqual({ warn: 1 })
    expect(await totals('eventId=5')).toEqual({ debug: 1 })
    expect(await totals(`text=red&since=${iso(noon + 1)}`)).toEqual({ error: 1 })
    expect(await counts('text=hen&step=1m')).toMatchObject({
      total: 2,
      list: [
        { time: iso(noon), counts: { debug: 1 } },
        { time: iso(noon + minute), counts: { error: 1 } },
      ],
    })
  })

  it('counts a repeated attempt once', async () => {
    for (let attempt = 0; attempt < 3; attempt++) {
      await receiver.call('POST', '/logs/demo', log, { 'idempotency-key': 'k' })
    }
    expect((await counts()).totals).toEqual({ info: 1 })
  })

  it('does not count what was rolled back', async () => {
    await receiver.close()
    receiver = await startReceiverForTest({ data: data.path })
    await send({ appName: 'web' })
    const failing = `CREATE TRIGGER failing BEFORE INSERT ON records WHEN NEW.record LIKE '%fails%' BEGIN SELECT RAISE(ABORT, 'no'); END`
    data.inDatabase((database) => database.exec(failing))
    const sent = ['web', 'new', 'fails'].map((appName) => receiver.call('POST', '/logs/demo', { ...log, appName }))
    expect((await Promise.all(sent)).map(({ status }) => status)).toContain(500)
    data.inDatabase((database) => database.exec('DROP TRIGGER failing'))
    await send({ appName: 'new' }, { appName: 'new' })
    for (const filter of ['', 'appName=web', 'appName=new', 'appName=fails']) {
      const { total, list } = (await receiver.call('GET', `/api/logs/demo?${filter}`)).body
      expect([filter, total]).toEqual([filter, list.length])
      expect([filter, (await counts(`${filter}&step=1h`)).total]).toEqual([filter, total])
    }
  })

  it.runIf(full)('counts the newest 100,000 where it counts one by one, and says from when on', async () => {
    await receiver.close()
    receiver = await startReceiverForTest({ data: data.path })
    await send({})
    data.inDatabase((database) =>
      database.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
        INSERT INTO records (lane, unused, received_at, time_ms, record)
          SELECT lane, 0, received_at, time_ms + i * 1000, record FROM n CROSS JOIN records WHERE id = 1`),
    )
    expect(await counts('appName=shop')).toMatchObject({ totals: { info: 100_000 }, countedSince: iso(noon + second) })
    expect((await counts('appName=none')).countedSince).toBe(undefined)
  })

  it('keeps odd levels and odd times', async () => {
    const odd = ['__proto__', 'x\u0000y', '\ud800', 'a,b']
    await send(...odd.map((level) => ({ level })), ...odd.map((level) => ({ level })))
    await send({ level: 'late', timeStamp: 9.9e19 }, { level: 'early', timeStamp: -9.9e19 })
    const { totals, lastSeen, total } = await counts('step=1d')
    expect(total).toBe(10)
    for (const level of odd)
      expect([level, Object.entries(totals)]).toEqual([level, expect.arrayContaining([[level, 2]])])
    expect(lastSeen).toMatchObject({ late: '5107-03-10T08:00:00.000Z', early: '0000-01-01T00:00:00.000Z' })
  })

  it.each([
    ['by=event', 'by must be "level"'],
    ['step=30s', 'step must be a number of minutes, hours or days, such as 1m, 5m, 1h or 1d'],
    ['step=0m', 'step must be'],
    ['step=', 'step must be'],
    ['limit=1', 'limit is not a field of a query'],
    ['level=', 'level must be'],
  ])('answers 400 to ?%s', async (query, message) => {
    const { status, body } = await receiver.call('GET', `/api/logs/demo/counts?${query}`)
    expect(status).toBe(400)
    expect(body.validationErrors[0].message).toContain(message)
  })
})

describe('counts of values', () => {
  it('counts by event', async () => {
    await track({ eventId: 1 }, { eventId: 2.5 }, { eventId: 1, timeStamp: noon, appName: 'web' })
    const { totals, lastSeen, by } = await counts('', 'values')
    expect({ by, totals }).toEqual({ by: 'event', totals: { 1: 2, 2.5: 1 } })
    expect(lastSeen[1]).toBe(iso(noon))
    expect((await counts('eventId=1', 'values')).totals).toEqual({ 1: 2 })
    expect((await counts('eventId=1&appName=web', 'values')).totals).toEqual({ 1: 1 })
    expect((await counts('level=info', 'values')).totals).toEqual({})
    expect((await counts('notLevel=info', 'values')).totals).toEqual({ 1: 2, 2.5: 1 })
    expect((await counts('by=event&step=1h&since=2026-01-01T00:00:00Z', 'values')).list).toEqual([
      { time: iso(noon), counts: { 1: 1 } },
    ])
  })

  it.runIf(full)('names the thousand most frequent events, and counts the others together', async () => {
    await track(...Array.from({ length: 1010 }, (_, eventId) => ({ eventId })), { eventId: 1009 })
    const { total, totals, others, list } = await counts('step=1m', 'values')
    expect({ total, others, named: Object.keys(totals).length }).toEqual({ total: 1011, others: 10, named: 1000 })
    expect(totals[1009]).toBe(2)
    expect(Object.keys(list[0].counts)).toHaveLength(1000)
  })
})
