import { readFileSync } from 'node:fs'
import type { LookupFunction } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { Outcome, Sender } from '../../../src/delivery/sender.js'
import type { ConnectionOptions } from '../../../src/http/connector.js'
import { PipelinedSender } from '../../../src/http/pipelined-sender.js'
import { UndiciSender } from '../../../src/http/undici-sender.js'
import { systemLoop } from '../../../src/runtime/loop.js'
import { sendRecords } from '../../support/batch.js'
import { FaultServer } from '../../support/fault-server.js'

let server: FaultServer
let sender: Sender
afterEach(async () => {
  await sender.close()
  await server.close()
})

const names = ['undici', 'pipelined'] as const

async function outcomeAt(
  url: string,
  { name, ...connection }: ConnectionOptions & { name: (typeof names)[number] },
): Promise<Outcome> {
  const plan = {
    url,
    apiKey: { reveal: () => 'k', renew: () => false },
    userAgent: 'sluice/test',
    maxConnections: 2,
    requestTimeoutMs: 1000,
    loop: systemLoop,
    connection,
  }
  sender = name === 'undici' ? new UndiciSender(plan) : new PipelinedSender({ ...plan, maxDepth: 64 })
  let outcome: Outcome | undefined
  const records = [{ body: '{}', bytes: 2, idempotencyKey: 'k-1' }]
  await sendRecords(sender, {
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
const certificate = (kind: string) => readFileSync(join(import.meta.dirname, `../../support/certificates/${kind}.pem`))

describe.each(names)('a request that never left, %s sender', (name) => {
  it.each(['ENOTFOUND', 'EAI_AGAIN'])('for %s of the name is unsent', async (code) => {
    server = await FaultServer.start()
    const url = `http://service.example:${server.port}`
    expect(await outcomeAt(url, { name, lookup: failingLookup(code) })).toMatchObject({
      type: 'retry',
      exchange: 'unsent',
      reason: expect.stringContaining(code),
    })
    expect(server.requests).toEqual([])
  })

  it.each<['foreign' | 'expired', ConnectionOptions, RegExp]>([
    ['foreign', {}, /self-signed/],
    ['expired', { ca: certificate('expired') }, /expired/],
  ])('for a certificate that is %s is unsent', async (kind, connection, reason) => {
    server = await FaultServer.start(undefined, { certificate: kind })
    expect(await outcomeAt(server.url, { name, ...connection })).toMatchObject({
      type: 'retry',
      exchange: 'unsent',
      reason: expect.stringMatching(reason),
    })
    expect(server.requests).toEqual([])
  })

  it('is delivered over TLS when the certificate is trusted', async () => {
    server = await FaultServer.start(undefined, { certificate: 'foreign' })
    expect(await outcomeAt(server.url, { name, ca: certificate('foreign') })).toEqual({ type: 'delivered' })
    expect(server.requests).toHaveLength(1)
  })
})
