import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { full } from '../../../test/support/full.js'
import { log, startReceiverForTest, value } from './support.js'

let receiver: Awaited<ReturnType<typeof startReceiverForTest>>
beforeEach(async () => {
  receiver = await startReceiverForTest()
})
afterEach(() => receiver.close())

const messages = async (query: string) => {
  const { body } = await receiver.call('GET', `/api/logs/demo?${query}`)
  return { ...body, list: body.list.map(({ message }: { message: string }) => message) }
}

describe('reading', () => {
  it('gives the newest first, with limit, level, eventId and before', async () => {
    for (let number = 1; number <= 5; number++) {
      const level = number % 2 === 0 ? 'error' : 'info'
      await receiver.call('POST', '/logs/demo', { ...log, level, message: `line ${number}`, eventId: number })
    }
    expect(await messages('')).toEqual({ total: 5, list: ['line 5', 'line 4', 'line 3', 'line 2', 'line 1'] })
    expect(await messages('limit=2')).toEqual({ total: 5, list: ['line 5', 'line 4'] })
    expect(await messages(`limit=2&before=${Number.MAX_SAFE_INTEGER}`)).toEqual({
      total: 5,
      list: ['line 5', 'line 4'],
    })
    expect(await messages('limit=2&before=4')).toEqual({ total: 5, list: ['line 3', 'line 2'] })
    expect(await messages('level=error')).toEqual({ total: 2, list: ['line 4', 'line 2'] })
    expect(await messages('level=info&limit=2')).toEqual({ total: 3, list: ['line 5', 'line 3'] })
    expect(await messages('eventId=3')).toEqual({ total: 1, list: ['line 3'] })
    expect(await messages('level=error&eventId=3')).toEqual({ total: 0, list: [] })
    expect(await messages('after=2&limit=2')).toEqual({ total: 5, list: ['line 4', 'line 3'] })
    expect(await messages('after=2&before=5&level=info')).toEqual({ total: 3, list: ['line 3'] })
    expect(await messages('after=5')).toEqual({ total: 5, list: [] })
  })

  it('filters by appName and env', async () => {
    for (const [appName, env] of [
      ['shop', 'qa'],
      ['jobs', 'qa'],
      ['shop', undefined],
    ] as const) {
      await receiver.call('POST', '/logs/demo', { ...log, appName, env, message: `${appName} ${env}` })
    }
    expect(await messages('appName=shop')).toEqual({ total: 2, list: ['shop undefined', 'shop qa'] })
    expect(await messages('env=qa&appName=shop')).toEqual({ total: 1, list: ['shop qa'] })
    expect(await messages('env=')).toMatchObject({ total: 0, list: [] })
  })

  it('tells texts apart that begin alike', async () => {
    for (const end of ['', '\u0000', '\u0000 more']) {
      const text = `x${end}`
      await receiver.call('POST', '/logs/demo', {
        ...log,
        level: text,
        appName: text,
        env: text,
        message: `${text} word`,
      })
    }
    for (const filter of ['level', 'appName', 'env']) {
      expect(await messages(`${filter}=x`)).toEqual({ total: 1, list: ['x word'] })
      expect(await messages(`${filter}=x%00`)).toEqual({ total: 1, list: ['x\u0000 word'] })
      expect(await messages(`${filter}=x%00%20more`)).toEqual({ total: 1, list: ['x\u0000 more word'] })
    }
    expect((await messages('text=word')).total).toBe(3)
    expect((await messages('text=more')).list).toEqual(['x\u0000 more word'])
  })

  it('filters by machineName and appVersion', async () => {
    await receiver.call('POST', '/logs/demo', { ...log, machineName: 'a', appVersion: '1.0', message: 'a 1.0' })
    await receiver.call('POST', '/logs/demo', { ...log, machineName: 'a', appVersion: '2', message: 'a 2' })
    await receiver.call('POST', '/logs/demo', { ...log, machineName: 'b', message: 'b' })
    expect(await messages('machineName=a')).toEqual({ total: 2, list: ['a 2', 'a 1.0'] })
    expect(await messages('machineName=a&appVersion=2')).toEqual({ total: 1, list: ['a 2'] })
    expect(await messages('appVersion=1.0&level=info')).toEqual({ total: 1, list: ['a 1.0'] })
    expect(await messages('machineName=b&appVersion=2')).toEqual({ total: 0, list: [] })
  })

  it('tells long values apart', async () => {
    const long = 'x'.repeat(150)
    for (const end of ['a', 'b']) {
      await receiver.call('POST', '/logs/demo', {
        ...log,
        level: `${long}${end}`,
        appName: `${long}${end}`,
        message: end,
      })
    }
    // The first query of words brings the index up to date.
    for (const words of ['', '&notText=nothing']) {
      for (const end of ['a', 'b']) {
        expect(await messages(`appName=${long}${end}${words}`)).toEqual({ total: 1, list: [end] })
        expect((await messages(`notLevel=${long}${end}${words}`)).list).toEqual([end === 'a' ? 'b' : 'a'])
      }
      expect((await messages(`appName=${long}${words}`)).hint).toContain('has appName xxx')
    }
  })

  it('reads records that are indexed and those that are not, without a gap or a repetition', async () => {
    const send = async (number: number) =>
      receiver.call('POST', '/logs/demo', { ...log, level: number % 2 ? 'warn' : 'info', message: `${number}` })
    for (let number = 0; number < 8; number++) {
      await send(number)
      if (number === 4) await messages('text=1')
    }
    expect(await messages('level=warn')).toEqual({ total: 4, list: ['7', '5', '3', '1'] })
    expect(await messages('level=warn&limit=3')).toEqual({ total: 4, list: ['7', '5', '3'] })
    expect((await messages('level=warn&before=6')).list).toEqual(['3', '1'])
    expect((await messages('level=warn&after=2')).list).toEqual(['7', '5', '3'])
    expect((await messages('appName=shop&level=info&since=2020-01-01T00:00:00Z')).list).toEqual(['6', '4', '2', '0'])
    expect((await receiver.call('GET', '/api/logs/demo/counts?appName=shop')).body.totals).toEqual({ info: 4, warn: 4 })
  })

  it('filters by several levels, a least level, and levels that are left out', async () => {
    for (const level of ['trace', 'debug', 'info', 'WARN', 'error', 'fatal', 'audit']) {
      await receiver.call('POST', '/logs/demo', { ...log, level, message: level })
    }
    const found = async (query: string) => (await messages(query)).list
    expect(await found('level=error,debug')).toEqual(['error', 'debug'])
    expect(await found('level=error,none')).toEqual(['error'])
    expect(await found('minLevel=warn')).toEqual(['fatal', 'error', 'WARN'])
    expect(await found('minLevel=error&level=error,info')).toEqual(['error'])
    expect(await found('notLevel=debug,trace,info')).toEqual(['audit', 'fatal', 'error', 'WARN'])
    expect(await found('minLevel=info&notLevel=error')).toEqual(['fatal', 'WARN', 'info'])
    const { status, body } = await receiver.call('GET', '/api/logs/demo?minLevel=loud')
    expect({ status, ...body.validationErrors[0] }).toMatchObject({
      status: 400,
      name: 'minLevel',
      message: expect.stringMatching(/^minLevel must be .*"trace" or "debug" .*"fatal"$/),
    })
  })

  it('leaves out messages with a word', async () => {
    for (const message of ['GET /health 200', 'GET /orders 200', 'order-18 failed', 'HEALTH']) {
      await receiver.call('POST', '/logs/demo', { ...log, message })
    }
    const found = async (query: string) => (await messages(query)).list
    expect(await found('notText=health')).toEqual(['order-18 failed', 'GET /orders 200'])
    expect(await found('notText=health%20failed')).toEqual(['GET /orders 200'])
    expect(await found('text=get&notText=orders')).toEqual(['GET /health 200'])
    expect(await found('notText=order-17')).toHaveLength(4)
    expect(await found('notText=order-18&level=info&limit=1')).toEqual(['HEALTH'])
    expect(await found('notText=-')).toHaveLength(4)
    expect(await found('notText=get&since=2024-01-01T00:00:00Z')).toEqual([])
    await receiver.call('POST', '/value_tracking/demo', value)
    expect((await receiver.call('GET', '/api/values/demo?notText=get&notLevel=info')).body.total).toBe(1)
  })

  it('takes a time ago', async () => {
    const now = Date.now()
    for (const seconds of [10, 100, 10_000]) {
      await receiver.call('POST', '/logs/demo', { ...log, timeStamp: now - seconds * 1000, message: `${seconds}` })
    }
    expect((await messages('since=60s')).list).toEqual(['10'])
    expect((await messages('since=5m')).list).toEqual(['100', '10'])
    expect((await messages('since=1d&until=1h')).list).toEqual(['10000'])
    const { body } = await receiver.call('GET', '/api/logs/demo?since=5x')
    expect(body.validationErrors[0].message).toBe(
      'since must be an ISO 8601 time in UTC, such as 2024-01-31T12:00:00Z or a time ago, such as 30s, 5m, 2h or 7d',
    )
  })

  it('names a value that no record has, and those that occur', async () => {
    const hint = async (query: string) => (await messages(query)).hint
    expect(await hint('appName=shp')).toBe('no record of bucket demo has appName shp')
    for (const appName of ['shop', 'web', 'shop', 'web', 'web', '\u0000'])
      await receiver.call('POST', '/logs/demo', { ...log, appName })
    expect(await hint('appName=shp')).toBe(
      'no record of bucket demo has appName shp; known: web, shop, \u0000; did you mean shop?',
    )
    expect(await hint('appName=shop&machineName=m')).toBe('no record of bucket demo has machineName m')
    expect(await hint('level=info,wran')).toBe(undefined)
    expect(await hint('level=wran,info&text=nothing')).toBe(
      'no record of bucket demo has level wran; known: info; did you mean warn?',
    )
    expect(await hint('eventId=5')).toBe('no record of bucket demo has eventId 5')
    for (const query of ['appName=shop&text=nothing', 'appName=shp&before=9', 'minLevel=error', 'notLevel=info']) {
      expect(await hint(query)).toBe(undefined)
    }
    expect((await receiver.call('GET', '/api/values/demo?appName=shop')).body.hint).toBe(
      'no record of bucket demo has appName shop',
    )
    for (let number = 0; number < 12; number++) {
      await receiver.call('POST', '/logs/demo', { ...log, env: `e${number}` })
    }
    expect((await hint('env=x')).split('known: ')[1].split(', ')).toHaveLength(10)
  })

  it('filters by time, in whichever unit it was sent', async () => {
    const at = Date.parse('2024-05-01T12:00:00Z')
    for (const timeStamp of [at + 2000, at, at / 1000 + 1, at + 0.5]) {
      await receiver.call('POST', '/logs/demo', { ...log, timeStamp, message: String(timeStamp) })
    }
    const [third, first, second, half] = [at + 2000, at, at / 1000 + 1, at + 0.5].map(String)
    expect(await messages('since=2024-05-01T12:00:00Z')).toEqual({ total: 4, list: [half, second, first, third] })
    expect(await messages('since=2024-05-01T12:00:01Z')).toEqual({ total: 2, list: [second, third] })
    expect(await messages('until=2024-05-01T12:00:01Z')).toEqual({ total: 2, list: [half, first] })
    expect(await messages('since=2024-05-01T12:00:00.001Z&until=2024-05-01T12:00:02Z')).toEqual({
      total: 1,
      list: [second],
    })
    expect(await messages('since=2025-05-01T12:00:00Z')).toEqual({ total: 0, list: [] })
    expect(await messages('level=info&since=2024-05-01T12:00:01Z')).toEqual({ total: 2, list: [second, third] })
  })

  it('finds messages by their words, whatever their case, order and punctuation', async () => {
    for (const message of [
      'Order 17 placed by Zoë',
      'order-18 failed: ECONNRESET',
      'placed 17',
      '"quoted" AND (NOT)',
      'lone \ud800 x',
    ]) {
      await receiver.call('POST', '/logs/demo', { ...log, message })
    }
    const found = async (text: string) => (await messages(`text=${encodeURIComponent(text)}`)).list
    expect(await found('ORDER')).toEqual(['order-18 failed: ECONNRESET', 'Order 17 placed by Zoë'])
    expect(await found('placed 17')).toEqual(['placed 17', 'Order 17 placed by Zoë'])
    expect(await found('zoe')).toEqual(['Order 17 placed by Zoë'])
    expect(await found('order-18')).toEqual(['order-18 failed: ECONNRESET'])
    expect(await found('order-17')).toEqual(['Order 17 placed by Zoë'])
    expect(await found('lone x')).toEqual(['lone \ud800 x'])
    for (const nothing of ['18 17', 'ord', '-', '"', '\u0000', 'NEAR(order placed)'])
      expect(await found(nothing)).toEqual([])
    for (const word of ['quoted AND NOT', '"quoted"', '(quoted', 'not AND'])
      expect(await found(word)).toEqual(['"quoted" AND (NOT)'])
  })

  it('finds words that came after it has looked for some, and only in this bucket', async () => {
    await receiver.call('POST', '/api/projects', { id: 'other' })
    for (const message of ['first word', 'second word']) {
      await receiver.call('POST', '/logs/demo', { ...log, message })
      await receiver.call('POST', '/logs/other', { ...log, message: 'word elsewhere' })
      await receiver.call('POST', '/value_tracking/demo', value)
      expect((await messages('text=word')).list[0]).toBe(message)
    }
    expect(await messages('text=word')).toEqual({ total: 2, list: ['second word', 'first word'] })
  })

  it('combines words with filters, times and pages', async () => {
    for (let number = 1; number <= 6; number++) {
      const line = {
        level: number % 2 ? 'info' : 'error',
        timeStamp: 1_700_000_000_000 + number * 1000,
        message: `word ${number}`,
      }
      await receiver.call('POST', '/logs/demo', { ...log, ...line })
    }
    expect(await messages('text=word&level=error')).toEqual({ total: 3, list: ['word 6', 'word 4', 'word 2'] })
    expect(await messages('text=word&level=error&before=6&limit=1')).toEqual({ total: 3, list: ['word 4'] })
    const until = new Date(1_700_000_004_000).toISOString()
    expect(await messages(`text=word&level=error&until=${until}`)).toEqual({ total: 1, list: ['word 2'] })
    expect(await messages('text=word&level=warn')).toMatchObject({ total: 0, list: [] })
  })

  it.runIf(full)('stops at 1000 where it must count one by one, and says so', async () => {
    const send = async (number: number) => receiver.call('POST', '/logs/demo', { ...log, message: `word ${number}` })
    await Promise.all(Array.from({ length: 1000 }, (_, number) => send(number)))
    expect((await receiver.call('GET', '/api/logs/demo?text=word&limit=1')).body).toEqual({
      total: 1000,
      list: [expect.anything()],
    })
    await send(1000)
    for (const query of [
      'text=word',
      'since=2020-01-01T00:00:00Z',
      'level=info&text=word&since=2020-01-01T00:00:00Z',
    ]) {
      const { body } = await receiver.call('GET', `/api/logs/demo?limit=1&${query}`)
      expect(body).toEqual({
        total: 1000,
        totalIsAtLeast: true,
        list: [expect.objectContaining({ message: 'word 1000' })],
      })
    }
    expect((await receiver.call('GET', '/api/logs/demo?limit=1')).body).toEqual({
      total: 1001,
      list: [expect.anything()],
    })
  })

  it('finds every event number that can be stored', async () => {
    for (const eventId of [0, -1.5, 7.25, Number.MAX_SAFE_INTEGER, 1e21, 1e300, 1e-9]) {
      await receiver.call('POST', '/value_tracking/demo', { ...value, eventId })
      const query = `eventId=${encodeURIComponent(eventId)}`
      expect((await receiver.call('GET', `/api/values/demo?${query}`)).body).toMatchObject({
        total: 1,
        list: [{ eventId }],
      })
    }
  })

  it.each([
    'limit=x',
    'limit=-1',
    'limit=0',
    'limit=1001',
    'before=1.5',
    'before=9007199254740992',
    'eventId=1e999',
    'eventId=0x10',
    'eventId=%201',
    'limit=01',
    'eventId=',
    'colour=red',
    'text=',
    'level=a&level=b',
    'since=1700000000000',
    'until=yesterday',
    'since=5w',
    'since=-5m',
    'level=',
    'level=a,,b',
    'notLevel=a,',
    'after=-1',
    'minLevel=WARN',
    'notText=',
  ])('answers 400 to ?%s', async (query) => {
    const { status, body } = await receiver.call('GET', `/api/logs/demo?${query}`)
    expect(status).toBe(400)
    expect(body.validationErrors[0].name).toBe(query.split('=')[0])
  })
})
