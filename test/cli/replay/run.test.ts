import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { Progress } from '../../../src/cli/progress.js'
import { RecordsToSend } from '../../../src/cli/replay/records-to-send.js'
import { Replay } from '../../../src/cli/replay/run.js'
import { resolve } from '../../../src/options/resolve.js'
import { answers, ScriptedSender } from '../../support/scripted-sender.js'
import { filesIn, leaveRecords, spoolFolder } from '../../support/spool.js'
import { VirtualClock } from '../../support/virtual-clock.js'

const { options } = resolve({ url: 'http://127.0.0.1:1', apiKey: 'k', bucket: 'b' }, { environment: {}, needs: 'logs' })

/** A replay of so many records, in virtual time, over a scripted sender. */
async function setUp(count: number, { limitRate = Number.POSITIVE_INFINITY } = {}) {
  const dir = spoolFolder()
  await leaveRecords(dir, count, { spool: { maxBytes: 100_000_000 }, delivery: { limits: roomy } })
  const records = new RecordsToSend(filesIn(dir).filter((path) => path.endsWith('.ndjson')))
  const clock = new VirtualClock()
  const sender = new ScriptedSender(clock, { maxDepth: 64 })
  const interruption = new AbortController()
  const progress = new Progress({ screen: { write: () => true }, clock, totalBytes: records.bytes })
  const replay = new Replay({
    records,
    sender,
    options,
    limitRate,
    progress,
    loop: clock,
    random: () => 0.5,
    signal: interruption.signal,
    turn: () => {},
  })
  const ended = replay.run().then(() => clock.now())
  return { dir, clock, sender, replay, interruption, ended }
}

const roomy = { maxQueueRecords: 100_000, maxQueueBytes: 100_000_000 }

describe('a replay', () => {
  it('reads more records as soon as half of those in memory are settled, and ends with the last answer', async () => {
    const { dir, clock, replay, ended } = await setUp(12_000)
    await clock.advance(90)
    // Less than one turn: settled records alone have woken it.
    expect(await ended).toBeLessThan(90)
    expect(replay.account.delivered).toBe(12_000)
    expect(replay.stopped).toBeUndefined()
    expect(readdirSync(dir, { recursive: true }).filter((name) => String(name).endsWith('.ndjson'))).toEqual([])
  })

  it('sends no more records a second than the limit', async () => {
    const { clock, sender, replay, ended } = await setUp(250, { limitRate: 100 })
    await clock.advance(1000)
    expect(sender.sent.length).toBeGreaterThan(90)
    expect(sender.sent.length).toBeLessThan(103)
    await clock.advance(2000)
    expect(await ended).toBeGreaterThan(2400)
    expect(replay.account.delivered).toBe(250)
  })

  it('waits for answers that take longer than a turn', async () => {
    const { clock, sender, replay, ended } = await setUp(3, { limitRate: 1 })
    sender.latencyMs = 3000
    await clock.advance(10_000)
    await ended
    expect(replay.account.delivered).toBe(3)
  })

  it('stops at once when the service refuses the key', async () => {
    const { clock, sender, replay, ended } = await setUp(20)
    sender.answer = () => answers.wrongKey
    await clock.advance(20)
    expect(await ended).toBeLessThan(20)
    expect(replay.stopped).toBe('wrong key')
  })

  it('stops when the service takes nothing for a minute', async () => {
    const { clock, sender, replay, ended } = await setUp(6000)
    sender.answer = () => answers.refused
    await clock.advance(75_000)
    expect(await ended).toBeGreaterThan(60_000)
    expect(replay.stopped).toBe(
      'the service has taken nothing for 60 s: ECONNREFUSED; start a receiver with npx sluice-receiver --port 1, or correct the port in SLUICE_URL',
    )
  })

  it('stops at the signal, after the answers to the records under way', async () => {
    const { clock, sender, replay, interruption, ended } = await setUp(100)
    sender.latencyMs = 30
    await clock.advance(10)
    const sent = sender.sent.length
    interruption.abort('interrupted by SIGINT')
    await clock.advance(11_000)
    await ended
    expect(replay.stopped).toBe('interrupted by SIGINT')
    expect(replay.account.delivered).toBeGreaterThanOrEqual(sent)
  })
})
