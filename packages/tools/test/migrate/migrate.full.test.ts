import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MigratedFile } from '../support/migrated-file.js'

/** A service that remembers which entries have come, but no idempotency keys. */
let server: Server
const times = new Uint8Array(1_000_001)
let requests = 0
let arrival: (count: number) => void = () => {}
beforeAll(async () => {
  server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (part) => {
      body += part
    })
    request.on('end', () => {
      const number = Number(/"title":"title (\d+)"/.exec(body)?.[1])
      times[number]!++
      requests++
      const answer = `{"success":true,"result":"entry_${number}","errors":[]}`
      response.writeHead(201, { 'content-length': Buffer.byteLength(answer) }).end(answer)
      arrival(requests)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

async function fileOf(count: number): Promise<MigratedFile> {
  const { port } = server.address() as AddressInfo
  const file = new MigratedFile({ SLUICE_URL: `http://127.0.0.1:${port}`, SLUICE_ACCESS_TOKEN: 'token' }, [])
  const stream = createWriteStream(file.path)
  for (let first = 1; first <= count; first += 1000) {
    const lines = Array.from({ length: Math.min(1000, count - first + 1) }, (_, index) => {
      const fields = { title: `title ${first + index}`, body: 'x'.repeat(100) }
      return `${JSON.stringify({ fields, createdAt: '2020-01-01T00:00:00Z' })}\n`
    })
    if (!stream.write(lines.join(''))) await once(stream, 'drain')
  }
  await finished(stream.end())
  return file
}

/** A heap that is too small for twenty bytes for each line. */
const flags = [
  '--max-old-space-size=32',
  '--max-semi-space-size=2',
  '--import',
  join(import.meta.dirname, '../../../../test/fixtures/print-peak-memory.js'),
]

async function peakOf({ ended }: ReturnType<MigratedFile['start']>, arrived: string): Promise<number> {
  const { code, stdout, stderr } = await ended
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining(arrived) })
  const peak = Number(/peak memory (\d+) MiB/.exec(stderr)?.[1])
  process.stdout.write(`sluice-tools migrate: ${arrived.trim()}: peak memory ${peak} MiB\n`)
  return peak
}

describe('a migration of a million lines', () => {
  it('takes no more memory than one of ten thousand; killed in the middle, it sends twice only what was under way', async () => {
    const few = await fileOf(10_000)
    const least = await peakOf(few.start([], flags), '10000 of 10000 lines have arrived\n')
    times.fill(0)
    requests = 0

    const many = await fileOf(1_000_000)
    const killed = many.start([], flags)
    const inTheMiddle = new Promise<void>((resolve) => {
      arrival = (count) => {
        if (count === 300_000) resolve()
      }
    })
    await Promise.race([inTheMiddle, killed.ended])
    killed.process.kill('SIGKILL')
    expect((await killed.ended).signal).toBe('SIGKILL')

    const startedAt = performance.now()
    const before = requests
    const goesOn = many.start([], flags)
    const most = await peakOf(goesOn, '1000000 of 1000000 lines have arrived')
    const rate = (requests - before) / ((performance.now() - startedAt) / 1000)
    process.stdout.write(`sluice-tools migrate: ${Math.round(rate)} entries/s\n`)
    expect(most).toBeLessThan(least + 20)
    // The entries under way at the kill were sent again, with the same keys. This service ignores keys.
    const twice = times.reduce((count, each) => count + (each > 1 ? 1 : 0), 0)
    expect(twice).toBeLessThanOrEqual(8)
    expect(times.subarray(1).every((each) => each > 0)).toBe(true)

    const sent = requests
    const again = await peakOf(many.start([], flags), '1000000 of 1000000 lines have arrived (1000000 of them')
    expect(again).toBeLessThan(least + 20)
    expect(requests).toBe(sent)
  }, 1_800_000)
})
