import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { FaultServer } from '../../support/fault-server.js'
import { full, rowsOf } from '../../support/full.js'
import { type Running, runProgram, startProgram } from '../../support/programs.js'
import { startTestReceiver, type TestReceiver } from '../../support/receiver.js'
import { linesIn, spoolFolder } from '../../support/spool.js'

/** Every character that the JSON of a spool escapes, in the longest key: the number behind it has one digit. */
const longKey = `"\\,/:${'k'.repeat(194)}`

let data: string
let receiver: TestReceiver
beforeEach(async () => {
  data = spoolFolder()
  receiver = await startTestReceiver({ data })
})
afterEach(() => receiver.close())

const eventsStored = async () => (await receiver.values()).map(({ eventId }) => eventId).sort()

describe.each(rowsOf(['worker', 'inline'], (mode) => mode === 'worker'))('events with a key, mode %s', (mode) => {
  const keyed = { WAY: 'keyed', COUNT: '3', SLUICE_MODE: mode }

  it('are stored once, however many processes track them', async () => {
    const variables = { ...receiver.variables, ...keyed, END: 'itself', SLUICE_DEBUG: 'true' }
    for (let count = 0; count < 2; count++) {
      const { code, stderr } = await runProgram('spools.js', variables)
      expect(code).toBe(0)
      expect(stderr).toContain('ledger accepted=3 delivered=3')
    }
    expect(await eventsStored()).toEqual([0, 1, 2])
  })

  it('keep their keys when the process exits at once', async () => {
    const server = await FaultServer.start()
    onTestFinished(() => server.close())
    const variables = { SLUICE_URL: server.url, SLUICE_API_KEY: 'k', SLUICE_BUCKET: 'b' }
    await runProgram('spools.js', { ...variables, ...keyed, END: 'exit' })
    const keys = server.requests.map(({ headers }) => headers.get('idempotency-key'))
    expect([...new Set(keys)].sort()).toEqual(['event-0-evt_0', 'event-1-evt_1', 'event-2-evt_2'])
  })

  it.runIf(full)('keep their keys in the spool of a process that is killed while the service is down', async () => {
    const dir = spoolFolder()
    const variables = { ...receiver.variables, ...keyed, KEY: longKey, SLUICE_SPOOL_DIR: dir }
    await receiver.close()
    const first = start(variables)
    await vi.waitFor(() => expect(linesIn(dir)).toHaveLength(3), { timeout: 20_000, interval: 50 })
    first.process.kill('SIGKILL')
    await first.ended
    const keys = [0, 1, 2].map((number) => `event-${number}-${longKey}${number}`)
    expect(linesIn(dir).map(({ idempotencyKey }) => idempotencyKey)).toEqual(keys)

    const { url, apiKey } = receiver
    receiver = await startTestReceiver({ data, port: Number(new URL(url).port), knownKey: apiKey })
    start({ ...variables, COUNT: '1', FROM: '3' })
    await vi.waitFor(async () => expect(await eventsStored()).toEqual([0, 1, 2, 3]), { timeout: 20_000, interval: 50 })
    await runProgram('spools.js', { ...variables, END: 'itself' })
    expect(await eventsStored()).toEqual([0, 1, 2, 3])
  })
})

function start(variables: Record<string, string>): Running {
  const running = startProgram('spools.js', { variables })
  onTestFinished(() => void running.process.kill('SIGKILL'))
  return running
}
