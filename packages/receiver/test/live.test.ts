import { afterEach, describe, expect, it } from 'vitest'
import { full } from '../../../test/support/full.js'
import { ask } from './browser.js'
import { dataFolder } from './data-folder.js'
import { EventStream, recordsIn } from './event-stream.js'
import { isoTime, log, refusal, startReceiverForTest, value } from './support.js'

const data = dataFolder()
const running: { close(): Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((receiver) => receiver.close()))
})

type Running = Awaited<ReturnType<typeof startReceiverForTest>>
async function start(options: Parameters<typeof startReceiverForTest>[0] = {}): Promise<Running> {
  const receiver = await startReceiverForTest(options)
  running.push(receiver)
  return receiver
}

/** Sends logs over eight connections. Their event ids count from `from` on. */
async function send(
  { call }: Running,
  { from = 0, count, message = 'm' }: Record<'count', number> & Partial<{ from: number; message: string }>,
) {
  const lanes = Array.from({ length: 8 }, async (_, lane) => {
    for (let eventId = from + lane; eventId < from + count; eventId += 8) {
      expect((await call('POST', '/logs/demo', { ...log, message, eventId })).status).toBe(201)
    }
  })
  await Promise.all(lanes)
}

const ids = (records: readonly { id: number }[]) => records.map(({ id }) => id)
const rising = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

describe('GET /api/live', () => {
  it('greets, and then tells of the records of its bucket as the reading API gives them', async () => {
    const receiver = await start()
    await receiver.call('POST', '/api/projects', { id: 'other' })
    await receiver.call('POST', '/logs/demo', log)
    const stream = await EventStream.open(receiver)
    expect(stream.answer.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-correlation-id': expect.any(String),
    })
    expect(await stream.next()).toMatchObject({ event: 'hello', data: { resumed: false, startedAt: isoTime } })
    await receiver.call('POST', '/logs/other', log)
    await receiver.call('POST', '/logs/demo', { ...log, message: 'line\nend \u2028 \ud800 \0' })
    await receiver.call('POST', '/value_tracking/demo', value)
    const events = await stream.until((all) => recordsIn(all).length + recordsIn(all, 'values').length === 2)
    expect(recordsIn(events)).toEqual((await receiver.call('GET', '/api/logs/demo?limit=1')).body.list)
    expect(recordsIn(events, 'values')).toEqual((await receiver.call('GET', '/api/values/demo')).body.list)
    await stream.leave()
  })

  it.runIf(full).each([':memory:', 'disk'])(
    'tells of all records in their order, in batches, under 1,000 records/s, with data in %s',
    async (place) => {
      const receiver = await start({ data: place === 'disk' ? data.path : place })
      const stream = await EventStream.open(receiver)
      const told = stream.until((all) => recordsIn(all).length >= 2000)
      const begun = performance.now()
      await send(receiver, { count: 2000 })
      const took = performance.now() - begun
      const events = await told
      expect(ids(recordsIn(events))).toEqual(rising(2000))
      const batches = events.filter(({ event }) => event === 'logs')
      // One event a turn, but for the events of a reader that is behind.
      expect(batches.length).toBeLessThanOrEqual(took / 100 + 5)
      expect(Math.max(...batches.map(({ data: records }) => records.length))).toBeLessThanOrEqual(500)
      await stream.leave()
    },
  )

  it.runIf(full)('resumes between any two events, without loss and without duplicates, under load', async () => {
    const receiver = await start({ data: data.path })
    let stream = await EventStream.open(receiver)
    let lastId = (await stream.next())!.id
    const sending = send(receiver, { count: 2000 })
    const seen: number[] = []
    let resumptions = 0
    while (seen.length < 2000) {
      const event = await stream.next()
      if (event!.event === 'hello') expect(event!.data.resumed).toBe(true)
      seen.push(...ids(recordsIn([event!])))
      lastId = event!.id
      if (event!.event === 'hello') continue
      await stream.leave()
      // The header of an EventSource that reconnects, and the query of a page that opens its stream again.
      stream = await EventStream.open(receiver, ++resumptions % 2 === 0 ? { lastId } : { after: lastId })
    }
    expect(seen).toEqual(rising(2000))
    expect(resumptions).toBeGreaterThan(2)
    await stream.leave()
    await sending
  })

  it.runIf(full)('catches up with more records than fit into one event', async () => {
    const receiver = await start()
    const first = await EventStream.open(receiver)
    const { id: lastId } = (await first.next())!
    await first.leave()
    await send(receiver, { count: 1100 })
    const stream = await EventStream.open(receiver, { lastId })
    const events = await stream.until((all) => recordsIn(all).length >= 1100)
    expect(events.slice(1).map(({ data: records }) => records.length)).toEqual([500, 500, 100])
    expect(ids(recordsIn(events))).toEqual(rising(1100))
    await stream.leave()
  })

  it('resumes after a restart with the same data', async () => {
    const first = await start({ data: data.path })
    const stream = await EventStream.open(first)
    await send(first, { count: 10 })
    const told = await stream.until((all) => recordsIn(all).length === 10)
    await first.close()
    expect(await stream.next()).toBeUndefined()

    const second = await start({ data: data.path })
    const receiver = { ...second, apiKey: first.apiKey }
    const call = (message: string) =>
      second.call('POST', '/logs/demo', { ...log, message }, { 'x-api-key': first.apiKey! })
    await call('between')
    const resumed = await EventStream.open(receiver, { lastId: told.at(-1)!.id })
    expect(await resumed.next()).toMatchObject({ event: 'hello', data: { resumed: true } })
    await call('after')
    const events = await resumed.until((all) => recordsIn(all).length === 2)
    expect(recordsIn(events).map(({ message }: { message: string }) => message)).toEqual(['between', 'after'])
    await resumed.leave()
  })

  it.each(['nonsense', '', '1.2.3', `${'0'.repeat(32)}.1.1`])(
    'begins at the newest record, and says so, after a cursor of another store: %j',
    async (lastId) => {
      const receiver = await start()
      await send(receiver, { count: 3 })
      const stream = await EventStream.open(receiver, { lastId })
      expect((await stream.next())!.data.resumed).toBe(false)
      await send(receiver, { count: 1 })
      expect(ids(recordsIn([(await stream.next())!]))).toEqual([4])
      await stream.leave()
    },
  )

  it.runIf(full)('skips a reader that does not read, and tells it how many records it has missed', async () => {
    const receiver = await start()
    const stream = await EventStream.open(receiver)
    await stream.next()
    // Far more than sockets hold. The kernel takes some MiB before the receiver sees that nobody reads.
    const message = 'x'.repeat(200_000)
    await send(receiver, { count: 200, message })
    await receiver.call('POST', '/value_tracking/demo', value)
    const other = await EventStream.open(receiver)
    await other.next()
    const events = await stream.until((all) => all.at(-1)?.event === 'missed')
    const told = recordsIn(events)
    const { data: missed } = events.at(-1)!
    expect(ids(told)).toEqual(rising(told.length))
    expect(told.length + recordsIn(events, 'values').length + missed.logs + missed.values).toBe(201)
    expect(missed.logs).toBeGreaterThan(50)
    // From then on it is told of all again.
    await send(receiver, { count: 1 })
    expect(ids(recordsIn([(await stream.next())!]))).toEqual([202])
    expect(ids(recordsIn([(await other.next())!]))).toEqual([202])
    await Promise.all([stream.leave(), other.leave()])
  })

  it.runIf(full)('takes twenty readers, and another when one has left', async () => {
    const receiver = await start()
    const streams = await Promise.all(Array.from({ length: 20 }, () => EventStream.open(receiver)))
    const refused = await receiver.call('GET', '/api/live?bucket=demo')
    expect(refused).toMatchObject({ status: 503, body: refusal('too many live readers') })
    await send(receiver, { count: 1 })
    for (const stream of streams) {
      expect((await stream.until((all) => recordsIn(all).length === 1)).length).toBe(2)
    }
    await streams[0]!.leave()
    let next = await EventStream.open(receiver)
    // The receiver learns a little later that a reader has left.
    while (next.answer.statusCode === 503) next = await EventStream.open(receiver)
    expect((await next.next())!.event).toBe('hello')
    await Promise.all([next, ...streams.slice(1)].map((stream) => stream.leave()))
  })

  it.runIf(full)('ends at once when the receiver stops, for those that do not read, too', async () => {
    const receiver = await start()
    const [reading, deaf] = [await EventStream.open(receiver), await EventStream.open(receiver)]
    const last = reading.until((all) => recordsIn(all).at(-1)?.eventId === 1000)
    await send(receiver, { count: 100, message: 'x'.repeat(200_000) })
    await send(receiver, { from: 1000, count: 1 })
    await last
    const begun = performance.now()
    await receiver.close()
    expect(await reading.next()).toBeUndefined()
    // A stop drops connections that delay it only after two seconds.
    expect(performance.now() - begun).toBeLessThan(1500)
    deaf.answer.destroy()
  })

  it('is not there for HEAD', async () => {
    const receiver = await start()
    const headers = { 'x-api-key': receiver.apiKey! }
    const answer = await ask(receiver.url, { method: 'HEAD', path: '/api/live?bucket=demo', headers })
    expect(answer.statusCode).toBe(404)
  })
})
