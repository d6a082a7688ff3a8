import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startReceiverForTest } from '../support.js'
import { type Assistant, ways } from './assistant.js'
import { events, type Incident, incident, minutes } from './incident.js'

let receiver: Awaited<ReturnType<typeof startReceiverForTest>>
let assistant: Assistant
let told: Incident

beforeAll(async () => {
  receiver = await startReceiverForTest()
  told = incident(Date.now())
  for (const record of told.logs) await receiver.call('POST', '/logs/demo', record)
  for (const record of told.values) await receiver.call('POST', '/value_tracking/demo', record)
  const mail = { timeStamp: Date.now(), level: 'info', appName: 'mailer', message: 'sent' }
  await receiver.call('POST', '/logs/mail', mail)
  assistant = await ways.stdio(receiver)
})
afterAll(async () => {
  await assistant.close()
  await receiver.close()
})

/** Asks the tools as an assistant would. What it finds stands in their texts. */
describe('in at most five calls an assistant finds', () => {
  beforeEach(() => {
    assistant.calls = 0
    return () => expect(assistant.calls).toBeLessThanOrEqual(5)
  })

  it('which application failed first', async () => {
    const apps = await assistant.lines('list_apps')
    expect(namesIn(apps)).toEqual(['payments', 'shop', 'stock'])
    const lines = await assistant.lines('count_logs', { q: 'level>=error', by: 'app', step: '1m' })
    const oldest = lines.filter((line) => isoTime.test(line)).at(-1)
    expect(oldest).toBe(`${told.at(minutes.deployed)} payments 1`)
  })

  it('which version brought an error', async () => {
    const kinds = await assistant.lines('list_errors', { app: 'payments' })
    expect(kinds[0]).toBe('Kinds of errors, 1 in all, the most frequent first:')
    const [, id, first, sample] =
      /^error:(\w+) 10 times TypeError .+; first ([^,]+), .+; apps payments; versions, the newest first: 2\.4\.0; sample (\d+)/.exec(
        kinds[1]!,
      )!
    expect(first! >= told.at(minutes.deployed)).toBe(true)
    const record = await assistant.lines('get_record', { id: Number(sample), around: 0 })
    expect(record).toContain('appVersion: 2.4.0')
    expect(record.find((line) => line.startsWith('message: "charge failed '))).toContain('TypeError: Cannot read')
    const all = await assistant.lines('search_logs', { q: `error:${id}` })
    expect(all.filter((line) => / error payments\/prod 2\.4\.0 "charge failed /.test(line))).toHaveLength(10)
    const sound = await assistant.lines('count_logs', { q: 'app:payments -level:error', by: 'version' })
    expect(namesIn(sound)).toEqual(['2.3.0', '2.4.0'])
  })

  it('what one request did', async () => {
    const lines = await assistant.lines('search_logs', { q: 'reqId:req-66' })
    const story = lines
      .slice(1, -1)
      .toReversed()
      .map((line) => / (\w+) (\w+)\/prod \S+ "(\w+ \w+|reserved)/.exec(line)?.slice(1).join(' '))
    expect(story).toEqual([
      'info shop checkout begun',
      'info stock reserved',
      'error payments charge failed',
      'error shop checkout failed',
    ])
    expect(lines.at(-1)).toBe('end')
  })

  it('which event stopped, and when', async () => {
    const all = await assistant.lines('count_events')
    const last = new Map(
      all.flatMap((line) => [...line.matchAll(/^(\d+) \d+, last (\S+)$/g)].map(([, id, at]) => [id, at])),
    )
    const stopped = [...last].filter(([, at]) => at! < told.at(minutes.rolledBack))
    expect(stopped).toEqual([[String(events.orderPaid), told.at(minutes.deployed - 1)]])
    const steps = await assistant.lines('count_events', { event: String(events.orderPaid), step: '10m' })
    expect(steps.find((line) => isoTime.test(line))! < told.at(minutes.deployed)).toBe(true)
  })

  it('which host alone has a fault', async () => {
    const lines = await assistant.lines('count_logs', { q: 'app:stock level:error', by: 'host' })
    expect(namesIn(lines)).toEqual(['web-2'])
    const [, line] = await assistant.lines('search_logs', { q: 'app:stock level:error', limit: 1 })
    expect(line).toContain('no space left')
  })

  it('why an application is not seen', async () => {
    const apps = await assistant.lines('list_apps')
    expect(namesIn(apps)).not.toContain('mailer')
    const [, line] = await assistant.lines('list_rejected')
    expect(line).toMatch(/ 404 POST "\/logs\/mail"; reason "there is no bucket mail"; app mailer;/)
  })

  it('the cause in one application of a failure in another', async () => {
    const [, failure] = await assistant.lines('search_logs', { q: 'app:shop checkout failed', limit: 1 })
    const id = Number(/^\d+/.exec(failure!)![0])
    const record = await assistant.lines('get_record', { id, around: 0 })
    const message = JSON.parse(/^message: (.+)$/.exec(record.find((line) => line.startsWith('message: '))!)![1]!)
    const { reqId, upstream } = JSON.parse(message.slice(message.indexOf('{')))
    const [, cause] = await assistant.lines('search_logs', { q: `reqId:${reqId} app:${upstream} level:error` })
    expect(cause).toContain(
      "TypeError: Cannot read properties of undefined (reading 'minorUnits')\\n    at chargeCard (src/charge.js:41:17)",
    )
  })

  it('that the roll-back has helped', async () => {
    const lines = await assistant.lines('count_logs', { q: 'level>=error', by: 'app' })
    const last = lines.flatMap((line) => /, last (\S+)$/.exec(line)?.[1] ?? [])
    expect(last).toHaveLength(3)
    expect(last.every((time) => time < told.at(minutes.rolledBack))).toBe(true)
    const after = await assistant.lines('count_logs', {
      q: `app:payments since:${told.at(minutes.rolledBack)}`,
      by: 'version',
    })
    expect(namesIn(after)).toEqual(['2.3.0'])
  })

  it('which route is slow', async () => {
    const lines = await assistant.lines('search_logs', { q: 'ms>=1000' })
    const routes = lines.flatMap((line) => /\\"route\\":\\"([^\\]+)/.exec(line)?.[1] ?? [])
    expect(routes).toHaveLength(12)
    expect(new Set(routes)).toEqual(new Set(['/search']))
  })

  it('whom it concerns', async () => {
    const total = async (q: string) =>
      Number(/, (\d+) in all:$/.exec((await assistant.lines('count_logs', { q }))[0]!)![1])
    const [, sample] = await assistant.lines('search_logs', { q: 'app:payments level:error', limit: 1 })
    expect(sample).toContain('\\"tenant\\":\\"alpina\\"')
    expect(await total('app:payments level:error')).toBe(10)
    expect(await total('app:payments level:error tenant:alpina')).toBe(10)
    expect(await total('app:payments charged tenant:nordic')).toBeGreaterThan(0)
  })
})

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z /

/** The names with which lines begin that count, in order. */
function namesIn(lines: readonly string[]): string[] {
  return lines.flatMap((line) => /^([\w.-]+)(?::| \d+, last)/.exec(line)?.[1] ?? []).sort()
}
