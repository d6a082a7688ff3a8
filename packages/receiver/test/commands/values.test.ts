import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { FaultServer } from '../../../../test/support/fault-server.js'
import { full } from '../../../../test/support/full.js'
import { startTestReceiver, type TestReceiver } from '../../../../test/support/receiver.js'
import { spoolFolder } from '../../../../test/support/spool.js'
import { startReading, store } from './reading.js'

const catalogue = resolve(import.meta.dirname, '../../../../test/fixtures/events.json')

let receiver: TestReceiver
beforeEach(async () => {
  receiver = await startTestReceiver()
  onTestFinished(() => receiver.close())
})
const run = (...written: string[]) => startReading(['values', ...written], receiver).ended

describe('sluice-receiver values', () => {
  it('counts the values by event, with the latest time', async () => {
    await store(receiver, 'values', [
      { eventId: 7 },
      { eventId: 1001, timeStamp: 1_700_000_009_000 },
      { eventId: 1001, timeStamp: 1_700_000_001 },
    ])
    expect(await run('--events', catalogue)).toEqual({
      code: 0,
      signal: null,
      stderr: '',
      stdout:
        'event  name          count  last seen\n' +
        '1001   order-placed      2  2023-11-14T22:13:29.000Z\n' +
        '7                        1  2023-11-14T22:13:20.000Z\n' +
        '3 values of 2 events\n',
    })
    const { stdout } = await run('--json')
    expect(JSON.parse(stdout)).toEqual({
      ok: true,
      total: 3,
      events: [
        { eventId: 1001, name: null, count: 2, lastSeen: '2023-11-14T22:13:29.000Z' },
        { eventId: 7, name: null, count: 1, lastSeen: '2023-11-14T22:13:20.000Z' },
      ],
    })
  })

  it('says that no value is of an application, and ends with 1', async () => {
    await store(receiver, 'values', [{}])
    const hint = 'no record of bucket demo has appName shp; known: shop; did you mean shop?'
    expect(await run('--app', 'shp')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: `sluice-receiver values: ${hint}\n`,
    })
    const following = startReading(['values', '--follow', '--app', 'shp'], receiver)
    await following.said(hint)
    following.process.kill('SIGINT')
    expect(await following.ended).toMatchObject({ code: 0, stdout: '' })
    expect(await run('--app', 'shop', '--since', '5m')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/0 values/),
    })
  })

  it.runIf(full)('counts all pages, and those that match the filters', async () => {
    const some = Array.from({ length: 59 }, () => ({}))
    await Promise.all(Array.from({ length: 17 }, () => store(receiver, 'values', some)))
    await store(receiver, 'values', [{ appName: 'jobs', timeStamp: Date.now() }])
    const total = async (...written: string[]) => JSON.parse((await run('--json', ...written)).stdout).total
    expect(await total()).toBe(1004)
    expect(await total('--app', 'shop')).toBe(1003)
    expect(await total('--since', '1h')).toBe(1)
  })

  it.runIf(full)('counts with --step over time', async () => {
    const minute = Date.UTC(2026, 0, 31, 12)
    await store(receiver, 'values', [
      { eventId: 7, timeStamp: minute + 59_999 },
      { eventId: 1001, timeStamp: minute },
      { eventId: 1001, timeStamp: minute + 1000 },
      { eventId: 7, timeStamp: minute + 3 * 60_000 },
      { eventId: 7, timeStamp: 1_700_000_000_000 },
    ])
    const since = '2026-01-31T12:00:00Z'
    expect((await run('--step', '1m', '--since', since, '--events', catalogue)).stdout).toBe(
      'time                      event  name          count\n' +
        '2026-01-31T12:00:00.000Z  1001   order-placed      2\n' +
        '2026-01-31T12:00:00.000Z  7                        1\n' +
        '2026-01-31T12:03:00.000Z  7                        1\n' +
        '4 values of 2 events\n',
    )
    const { stdout } = await run('--step', '1h', '--since', since, '--json')
    expect(JSON.parse(stdout)).toMatchObject({
      total: 4,
      steps: [
        { time: '2026-01-31T12:00:00.000Z', eventId: 7, name: null, count: 2 },
        { time: '2026-01-31T12:00:00.000Z', eventId: 1001, name: null, count: 2 },
      ],
    })
  })

  it.runIf(full)('says where the receiver has not counted all', async () => {
    const body = {
      by: 'event',
      total: 30,
      totals: { 7: 20 },
      lastSeen: { 7: '2026-01-31T12:00:00.000Z' },
      others: 10,
      countedSince: '2026-01-30T00:00:00.000Z',
    }
    const server = await FaultServer.start(() => ({ type: 'answer', status: 200, body: JSON.stringify(body) }))
    onTestFinished(() => server.close())
    const ended = (...written: string[]) =>
      startReading(['values', ...written], { variables: { ...receiver.variables, SLUICE_URL: server.url } }).ended
    expect((await ended('--app', 'shop')).stdout).toBe(
      'event  name  count  last seen\n' +
        '7               20  2026-01-31T12:00:00.000Z\n' +
        '30 values of more than 1 event, 10 of them of events that are not listed\n' +
        'there are more: those from before 2026-01-30T00:00:00.000Z are not counted\n',
    )
    const facts = JSON.parse((await ended('--app', 'shop', '--json')).stdout)
    expect(facts).toMatchObject({ total: 30, others: 10, countedSince: '2026-01-30T00:00:00.000Z' })
  })

  it.runIf(full)('prints with --follow the values that arrive, each once', async () => {
    await store(receiver, 'values', [{ eventId: 1 }])
    const reading = startReading(['values', '--follow', '--events', catalogue], receiver)
    // It prints nothing before the first value: store values until one is printed.
    await expect
      .poll(
        async () => {
          await store(receiver, 'values', [{}])
          return reading.heard()
        },
        { timeout: 10_000 },
      )
      .toContain('order-placed')
    await store(receiver, 'values', [{ eventId: 9, appName: 'last' }])
    await reading.said('last')
    reading.process.kill('SIGINT')
    const { code, stdout, stderr } = await reading.ended
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const lines = stdout.trimEnd().split('\n')
    expect(lines.at(-1)).toBe('2023-11-14T22:13:20.000Z last 9')
    expect(new Set(lines.slice(0, -1))).toEqual(new Set(['2023-11-14T22:13:20.000Z shop 1001 order-placed']))
  })

  it.runIf(full).each([
    [['--events', 'not-there.json'], '--events: there is no such file: not-there.json'],
    [['--follow', '--since', '5m'], '--since: expected without --follow, got both'],
    [['--follow', '--step', '5m'], '--step: expected without --follow, got both'],
    [['--step', '30s'], '--step: expected minutes, hours or days such as 5m, 1h or 1d, got "30s"'],
    [['more'], 'expected no operand, got more'],
  ])('called with %j ends with 2 and says: %s', async (written, words) => {
    const { code, stdout, stderr } = await run(...written)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(words)
  })

  it.runIf(full)('refuses a catalogue with faults', async () => {
    const file = join(spoolFolder(), 'events.json')
    for (const [text, words] of [
      ['{"a":1,"b":1}', 'event b: the number 1 is that of a already'],
      ['{', 'expected JSON: '],
    ] as const) {
      writeFileSync(file, text)
      const { code, stderr } = await run('--events', file)
      expect(code).toBe(2)
      expect(stderr).toContain(`--events: ${file}: ${words}`)
    }
  })
})
