import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startReceiverForTest } from '../support.js'
import { type Assistant, ways } from './assistant.js'

const second = 1000
const begin = Date.parse('2026-01-31T12:00:00.000Z')
const time = (at: number) => new Date(begin + at * second).toISOString()

let receiver: Awaited<ReturnType<typeof startReceiverForTest>>
beforeAll(async () => {
  receiver = await startReceiverForTest()
  const { call } = receiver
  for (let at = 0; at < 24; at++) {
    const level = at % 8 === 7 ? 'error' : 'info'
    const appName = at % 3 === 2 ? 'jobs' : 'shop'
    const fields = { env: 'prod', appVersion: at < 12 ? '1.4.1' : '1.4.2', machineName: 'web-1' }
    await call('POST', '/logs/demo', {
      timeStamp: begin + at * second,
      level,
      appName,
      ...fields,
      message: `line ${at}`,
    })
  }
  for (const [eventId, at] of [
    [1001, 0],
    [1001, 90],
    [1002, 30],
  ] as const) {
    await call('POST', '/value_tracking/demo', { timeStamp: begin + at * second, eventId, appName: 'shop' })
  }
  await call('POST', '/api/projects', { id: 'other' })
  await call('POST', '/logs/other', { timeStamp: begin, level: 'info', appName: 'elsewhere', message: 'of another' })
  await call('POST', '/logs/nowhere', { timeStamp: begin, level: 'info', appName: 'lost', message: 'to nobody' })
})
afterAll(() => receiver.close())

describe.each(Object.entries(ways))('over %s', (_, reach) => {
  let assistant: Assistant
  beforeAll(async () => {
    assistant = await reach(receiver)
  })
  afterAll(() => assistant.close())

  it('says who it is, how to begin, and which tools it has', async () => {
    expect(assistant.client.getServerVersion()).toMatchObject({ name: 'sluice-receiver' })
    expect(assistant.client.getInstructions()).toContain('Begin with list_apps')
    expect(assistant.client.getServerCapabilities()).toEqual({ tools: {} })
    const { tools } = await assistant.client.listTools()
    const parameters = tools.map(({ name, inputSchema }) => [name, Object.keys(inputSchema.properties ?? {})])
    expect(Object.fromEntries(parameters)).toEqual({
      search_logs: ['q', 'limit', 'cursor', 'bucket'],
      get_record: ['id', 'around', 'cursor', 'bucket'],
      list_errors: ['since', 'app', 'env', 'limit', 'cursor', 'bucket'],
      count_logs: ['q', 'by', 'step', 'cursor', 'bucket'],
      count_events: ['event', 'step', 'since', 'app', 'cursor', 'bucket'],
      list_apps: ['limit', 'cursor', 'bucket'],
      list_rejected: ['limit', 'cursor'],
    })
    expect(tools.filter(({ annotations }) => annotations?.readOnlyHint !== true)).toEqual([])
  })

  it('searches, newest first, and goes on at the cursor', async () => {
    expect(await assistant.lines('search_logs', { limit: 2 })).toEqual([
      'Log records, newest first:',
      `24 ${time(23)} error jobs/prod 1.4.2 "line 23"`,
      `23 ${time(22)} info shop/prod 1.4.2 "line 22"`,
      'cursor: 23',
    ])
    const rest = await assistant.lines('search_logs', { cursor: '23' })
    expect(rest[1]).toBe(`22 ${time(21)} info shop/prod 1.4.2 "line 21"`)
    expect(rest).toHaveLength(1 + 22 + 1)
    expect(rest.at(-1)).toBe('end')
  })

  it('shows a record with the lines around it', async () => {
    expect(await assistant.lines('get_record', { id: 13, around: 1 })).toEqual([
      'Record 13:',
      expect.stringMatching(`^time: ${time(12)}, received \\S+Z$`),
      'level: info',
      'appName: shop',
      'env: prod',
      'appVersion: 1.4.2',
      'machineName: web-1',
      'message: "line 12"',
      'newer, of the same application and host:',
      `14 ${time(13)} info shop/prod 1.4.2 "line 13"`,
      'older, of the same application and host:',
      `11 ${time(10)} info shop/prod 1.4.1 "line 10"`,
      'end',
    ])
  })

  it('counts by level, and by a field with steps', async () => {
    expect(await assistant.lines('count_logs')).toEqual([
      'Log records by level, 24 in all:',
      `info 21, last ${time(22)}`,
      `error 3, last ${time(23)}`,
      'end',
    ])
    expect(await assistant.lines('count_logs', { by: 'version', step: '1m' })).toEqual([
      'Log records by version, 24 in all:',
      `1.4.1 12, last ${time(11)}`,
      `1.4.2 12, last ${time(23)}`,
      'by time, newest first; steps without records are left out:',
      `${time(0)} 1.4.1 12, 1.4.2 12`,
      'Each version of the newest 10,000 such records is counted; others are not.',
      'end',
    ])
  })

  it('counts events, all or one', async () => {
    expect(await assistant.lines('count_events', { step: '1m' })).toEqual([
      'Value events by number, 3 in all:',
      `1001 2, last ${time(90)}`,
      `1002 1, last ${time(30)}`,
      'by time, newest first; steps without records are left out:',
      `${time(60)} 1001 1`,
      `${time(0)} 1001 1, 1002 1`,
      'end',
    ])
    const one = ['Value events by number, 1 in all:', `1002 1, last ${time(30)}`, 'end']
    expect(await assistant.lines('count_events', { event: '1002' })).toEqual(one)
    expect(await assistant.lines('count_events', { event: 1002 })).toEqual(one)
  })

  it('lists applications and rejected requests', async () => {
    expect(await assistant.lines('list_apps')).toEqual([
      'Applications of the newest 10,000 records, 2 in all:',
      `shop: last record ${time(22)}; levels: info 14, error 2; envs: prod 16; versions: 1.4.1 8, 1.4.2 8; hosts: web-1 16`,
      `jobs: last record ${time(23)}; levels: info 7, error 1; envs: prod 8; versions: 1.4.1 4, 1.4.2 4; hosts: web-1 8`,
      'end',
    ])
    expect(await assistant.lines('list_rejected')).toEqual([
      'Requests that were refused, newest first:',
      expect.stringMatching(
        /^1 \S+Z 404 POST "\/logs\/nowhere"; reason "there is no bucket nowhere"; app lost; by "node"; body "/,
      ),
      'end',
    ])
  })

  it('reads another bucket, and says so where there is none', async () => {
    expect((await assistant.lines('search_logs', { bucket: 'other' }))[1]).toBe(
      `28 ${time(0)} info elsewhere "of another"`,
    )
    expect(await assistant.ask('search_logs', { bucket: 'nowhere' })).toMatchObject({
      text: expect.stringContaining('there is no bucket nowhere'),
      isError: true,
    })
  })

  it.each([
    ['search_logs', { limit: 0 }, 'limit: expected a whole number from 1 to 200, got 0'],
    ['search_logs', { limits: 5 }, '"limits": the tool has no such argument; did you mean limit?'],
    ['search_logs', { q: ['a'] }, 'q: expected a text of at most 1000 characters, got an object'],
    [
      'search_logs',
      { cursor: 'x' },
      'cursor: expected the cursor at the end of the answer before, to go on there, got "x"',
    ],
    ['get_record', {}, `id: expected a whole number from 1 to ${Number.MAX_SAFE_INTEGER}, got none`],
    ['get_record', { id: 999 }, 'id: there is no record 999 in this bucket; it may be too old to be kept'],
    ['count_logs', { by: 'colour' }, 'by: expected one of level, app, env, version, host, got "colour"'],
    [
      'count_logs',
      { step: '5s' },
      'step: expected a number of minutes, hours or days, such as 1m, 5m, 1h or 1d, got "5s"',
    ],
    ['count_events', { event: 'x' }, 'event: expected its number: the receiver has no catalogue of names, got "x"'],
    ['list_error', {}, 'unknown tool list_error; did you mean list_errors?'],
  ])('says what is wrong with %s of %o', async (name, given, text) => {
    expect(await assistant.ask(name, given)).toMatchObject({ text, isError: true })
  })

  it('passes on what is wrong with q', async () => {
    for (const name of ['search_logs', 'count_logs']) {
      const { text, isError } = await assistant.ask(name, { q: 'level:' })
      expect(isError).toBe(true)
      expect(text).toContain('q: expected a value after "level:" at 7')
      expect(text).not.toContain('q: q:')
    }
  })

  it('says which field, level or value nobody has, beside every empty answer', async () => {
    const eror = expect.stringMatching(/^hint: ".*has level eror; known: info, error; did you mean error\?"$/)
    for (const [name, given, hint] of [
      ['search_logs', { q: 'level=eror' }, eror],
      ['count_logs', { q: 'level:eror' }, eror],
      ['count_logs', { q: 'level:eror', by: 'app', step: '1h' }, eror],
      ['search_logs', { q: 'message:line' }, expect.stringContaining('has a field message; words without a name')],
      [
        'list_errors',
        { app: 'shp' },
        expect.stringContaining('has appName shp; known: shop, jobs; did you mean shop?'),
      ],
      ['count_events', { app: 'shp' }, expect.stringContaining('did you mean shop?')],
    ] as const) {
      expect((await assistant.lines(name, given)).slice(-2), `${name} ${JSON.stringify(given)}`).toEqual([hint, 'end'])
    }
    expect((await assistant.lines('search_logs', { q: 'level:warn' })).slice(1)).toEqual(['end'])
    expect((await assistant.ask('search_logs', { q: 'url:*orders*' })).text).toContain('q: unexpected "*" at 5: write')
  })

  it('takes numbers as texts and texts as numbers, and an empty text for nothing, as models write them', async () => {
    expect(await assistant.lines('search_logs', { q: '', limit: '1', cursor: 3 })).toEqual([
      'Log records, newest first:',
      `2 ${time(1)} info shop/prod 1.4.1 "line 1"`,
      'cursor: 2',
    ])
  })

  it('changes nothing', async () => {
    const counts = async () => (await receiver.call('GET', '/api/logs/demo/counts')).body
    const before = await counts()
    for (const name of ['search_logs', 'count_logs', 'count_events', 'list_apps', 'list_rejected'])
      await assistant.lines(name)
    expect(await counts()).toEqual(before)
    expect((await receiver.call('GET', '/api/keys')).body.list).toHaveLength(1)
  })
})
