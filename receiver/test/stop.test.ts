import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { killAll, ready } from './processes.js'
import { caller, log } from './support.js'

let data: string
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'receiver-test-'))
})
afterEach(async () => {
  killAll()
  await rm(data, { recursive: true })
})

async function connected(url: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  await once(socket, 'connect')
  return socket
}

/** Resolves when nobody listens any more. */
async function deaf(url: string): Promise<void> {
  for (;;) {
    try {
      ;(await connected(url)).destroy()
    } catch {
      return
    }
  }
}

describe('a graceful stop', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'on %s answers the requests that it took, commits them and ends',
    async (signal) => {
      const first = await ready('--data', data)
      const body = JSON.stringify(log)
      const requests = await Promise.all(
        Array.from({ length: 5 }, async () => {
          const socket = await connected(first.url)
          const head = `POST /logs/demo HTTP/1.1\r\nhost: x\r\nx-api-key: ${first.apiKey}\r\ncontent-type: application/json\r\n`
          socket.write(`${head}content-length: ${body.length}\r\nexpect: 100-continue\r\n\r\n`)
          const [taken] = await once(socket, 'data')
          expect(String(taken)).toMatch(/^HTTP\/1\.1 100 /)
          return socket
        }),
      )
      first.child.kill(signal)
      await deaf(first.url)
      for (const socket of requests) {
        const answer = once(socket, 'data')
        socket.write(body)
        expect(String((await answer)[0])).toMatch(/^HTTP\/1\.1 201 /)
      }
      expect(await first.exit).toEqual([0, null])

      const second = await ready('--data', data)
      const read = caller({ url: second.url, apiKey: first.apiKey })
      expect((await read('GET', '/api/logs/demo')).body.total).toBe(5)
    },
  )

  it('acknowledges under load only what is there afterwards', async () => {
    const first = await ready('--data', data)
    const post = caller(first)
    const acknowledged: number[] = []
    const lanes = Array.from({ length: 16 }, async (_, lane) => {
      for (let number = lane; ; number += 16) {
        const { status } = await post('POST', '/logs/demo', { ...log, eventId: number })
        if (status === 201) acknowledged.push(number)
        if (acknowledged.length === 200) first.child.kill('SIGTERM')
      }
    })
    await Promise.allSettled(lanes)
    expect(await first.exit).toEqual([0, null])

    const second = await ready('--data', data)
    const { body } = await caller({ url: second.url, apiKey: first.apiKey })('GET', '/api/logs/demo?limit=1000')
    const stored = new Set(body.list.map(({ eventId }: { eventId: number }) => eventId))
    expect(acknowledged.length).toBeGreaterThanOrEqual(200)
    expect(acknowledged.filter((number) => !stored.has(number))).toEqual([])
  })
})
