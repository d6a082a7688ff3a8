import { readFileSync } from 'node:fs'
import type { LookupFunction } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/delivery/clock.js'
import type { Outcome } from '../../src/delivery/sender.js'
import { type ConnectionOptions, UndiciSender } from '../../src/http/undici-sender.js'
import { FaultServer } from './fault-server.js'

let server: FaultServer
let sender: UndiciSender
afterEach(async () => {
  await sender.close()
  await server.close()
})

async function outcomeAt(url: string, connection: ConnectionOptions): Promise<Outcome> {
  sender = new UndiciSender({
    url,
    apiKey: { reveal: () => 'k', renew: () => false },
    userAgent: 'sluice/test',
    maxConnections: 2,
    requestTimeoutMs: 1000,
    clock: systemClock,
    connection,
  })
  let outcome: Outcome | undefined
  const records = [{ body: '{}', idempotencyKey: 'k-1' }]
  await sender.send({
    kind: 'logs',
    bucket: 'b',
    records,
    settle: (_, each) => {
      outcome = each
    },
  })
  return outcome!
}

const failingLookup =
  (code: string): LookupFunction =>
  (_host, _options, callback) =>
    callback(Object.assign(new Error(`getaddrinfo ${code}`), { code }), '', 4)
const certificate = (name: string) => readFileSync(join(import.meta.dirname, `certificates/${name}.pem`))

describe('a request that never left', () => {
  it.each(['ENOTFOUND', 'EAI_AGAIN'])('for %s of the name is unsent', async (code) => {
    server = await FaultServer.start()
    const url = `http://service.example:${server.port}`
    expect(await outcomeAt(url, { lookup: failingLookup(code) })).toMatchObject({
      type: 'retry',
      exchange: 'unsent',
      reason: expect.stringContaining(code),
    })
    expect(server.requests).toEqual([])
  })

  it.each<['foreign' | 'expired', ConnectionOptions, RegExp]>([
    ['foreign', {}, /self-signed/],
    ['expired', { ca: certificate('expired') }, /expired/],
  ])('for a certificate that is %s is unsent', async (name, connection, reason) => {
    server = await FaultServer.start(undefined, { certificate: name })
    expect(await outcomeAt(server.url, connection)).toMatchObject({
      type: 'retry',
      exchange: 'unsent',
      reason: expect.stringMatching(reason),
    })
    expect(server.requests).toEqual([])
  })

  it('is delivered over TLS when the certificate is trusted', async () => {
    server = await FaultServer.start(undefined, { certificate: 'foreign' })
    expect(await outcomeAt(server.url, { ca: certificate('foreign') })).toEqual({ type: 'delivered' })
    expect(server.requests).toHaveLength(1)
  })
})
