import { createSluice, type Sluice } from 'sluice'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { delivered, type Fault, FaultServer, type Request } from '../../support/fault-server.js'
import { rowsOf } from '../../support/full.js'

let server: FaultServer
let sluice: Sluice
beforeEach(async () => {
  server = await FaultServer.start()
})
afterEach(async () => {
  await sluice.close({ timeoutMs: 0 })
  await server.close()
})

const bad = 1313
const isBad = ({ body }: Request) => (JSON.parse(body) as { eventId: number }).eventId === bad

const faults: Readonly<Record<string, Fault>> = {
  'a 500': { type: 'answer', status: 500 },
  'a 403': { type: 'answer', status: 403 },
  'a reset': { type: 'reset-before-answer' },
  'no answer': { type: 'silence' },
}

function open(fault: Fault) {
  server.script = (request) => (isBad(request) ? fault : delivered)
  const quick = { retryBaseMs: 5, retryCapMs: 50, requestTimeoutMs: 300 }
  const told: string[] = []
  sluice = createSluice({
    url: server.url,
    apiKey: 'k',
    bucket: 'b',
    ...quick,
    onError: ({ message }) => told.push(message),
  })
  return told
}

describe.each(rowsOf(Object.entries(faults), ([title]) => title === 'a 500'))(
  'a record that always gets %s',
  (_, fault) => {
    it('does not stop those that come after it, and is rejected in the end', async () => {
      const told = open(fault)
      sluice.track(bad)
      let tracked = 0
      for (; sluice.stats().rejected === 0 && tracked < 50_000; tracked++) {
        const arrived = server.arrived(1)
        sluice.track(tracked === bad ? 0 : tracked)
        await arrived
      }
      const ledger = await sluice.flush()
      expect(ledger).toMatchObject({ delivered: tracked, rejected: 1, queued: 0 })
      expect(told).toEqual([expect.stringContaining('failed again and again while others were delivered')])
    }, 40_000)

    it('before a thousand others does not keep close() from delivering those', async () => {
      open(fault)
      sluice.track(bad)
      for (let number = 0; number < 1000; number++) sluice.track(number)
      const ledger = await sluice.close({ timeoutMs: 20_000 })
      expect(ledger).toMatchObject({ delivered: 1000, queued: 0, inFlight: 0 })
      expect(ledger.rejected + ledger.dropped.shutdown).toBe(1)
    })
  },
)
