import { once } from 'node:events'
import { copyFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, it } from 'vitest'
import { full, rowsOf } from '../../../test/support/full.js'
import { openSqlite } from '../dist/storage/sqlite/database.js'
import { dataFolder } from './data-folder.js'
import { killAll, ready } from './processes.js'
import { connected, requestBytes, statuses } from './sockets.js'
import { caller, log, startReceiverForTest } from './support.js'

const data = dataFolder()
afterEach(killAll)

const body = JSON.stringify(log)

/** Resolves when the port is closed. */
async function deaf(url: string): Promise<void> {
  for (;;) {
    try {
      ;(await connected(url)).destroy()
    } catch {
      return
    }
  }
}

function stored() {
  return data.inDatabase((database) => database.prepare('SELECT count(*) AS records FROM records').get())
}

/** A connection on which the receiver waits for the body of a request. */
async function asked({ url, apiKey }: { readonly url: string; readonly apiKey: string | null }) {
  const socket = await connected(url)
  const bytes = requestBytes({ apiKey, body, headers: { expect: '100-continue' } })
  socket.write(bytes.slice(0, -body.length))
  const [taken] = await once(socket, 'data')
  expect(statuses(String(taken))).toEqual([100])
  return socket
}

describe('a graceful stop', () => {
  it('leaves all records in the file itself, though another program has it open', async () => {
    const receiver = await ready('--data', data.path)
    const call = caller(receiver)
    for (let number = 0; number < 5; number++) await call('POST', '/logs/demo', log)
    expect((await call('GET', '/api/logs/demo?text=hello')).body.total).toBe(5)
    const other = openSqlite(data.file('receiver.sqlite'))
    other.prepare('SELECT count(*) FROM records').get()
    receiver.child.kill('SIGTERM')
    expect(await receiver.exit).toEqual([0, null])
    await copyFile(data.file('receiver.sqlite'), data.file('copy.sqlite'))
    other.close()
    const copy = openSqlite(data.file('copy.sqlite'))
    expect(copy.prepare('SELECT count(*) AS records FROM records').get()).toEqual({ records: 5 })
    copy.close()
  })

  it.each(rowsOf(['SIGTERM', 'SIGINT'] as const, (signal) => signal === 'SIGTERM'))(
    'on %s answers the requests that it took, commits them and ends',
    async (signal) => {
      const first = await ready('--data', data.path)
      const requests = await Promise.all(Array.from({ length: 5 }, () => asked(first)))
      first.child.kill(signal)
      await deaf(first.url)
      for (const socket of requests) {
        socket.write(body)
        // Both sides know that this connection ends, so neither waits for a time-out.
        expect(await text(socket)).toMatch(/^HTTP\/1\.1 201 .*\r\nconnection: close\r\n/is)
      }
      expect(await first.exit).toEqual([0, null])

      const second = await ready('--data', data.path)
      const read = caller({ url: second.url, apiKey: first.apiKey })
      expect((await read('GET', '/api/logs/demo')).body.total).toBe(5)
    },
  )

  it.runIf(full)(
    'answers a request whose head was arriving, and does nothing of what is pipelined behind it',
    async () => {
      const first = await ready('--data', data.path)
      const request = requestBytes({ apiKey: first.apiKey, body })
      const socket = await connected(first.url)
      socket.write(request + request.slice(0, 20))
      const [answered] = await once(socket, 'data')
      expect(statuses(String(answered))).toEqual([201])
      first.child.kill('SIGTERM')
      await deaf(first.url)
      socket.write(request.slice(20) + request)
      expect(statuses(await text(socket))).toEqual([201])
      expect(await first.exit).toEqual([0, null])
      expect(stored()).toEqual({ records: 2 })
    },
  )

  it.runIf(full)('is cut short by a second signal', async () => {
    const { child, exit, ...receiver } = await ready('--data', data.path)
    const socket = await asked(receiver)
    child.kill('SIGTERM')
    await deaf(receiver.url)
    child.kill('SIGTERM')
    expect(await exit).toEqual([null, 'SIGTERM'])
    socket.destroy()
  })

  it.runIf(full)('waits for the disk longer than for clients that send half a request', async () => {
    const receiver = await startReceiverForTest({ data: data.path })
    const [complete, half] = [await asked(receiver), await asked(receiver)]
    const other = openSqlite(data.file('receiver.sqlite'))
    other.exec('BEGIN IMMEDIATE')
    complete.write(body)
    const answer = text(complete)
    const closed = receiver.close()
    await once(half, 'close')
    other.exec('ROLLBACK')
    other.close()
    expect(statuses(await answer)).toEqual([201])
    await closed
    expect(stored()).toEqual({ records: 1 })
  })

  it.runIf(full)('acknowledges under load only what is there afterwards', async () => {
    const first = await ready('--data', data.path)
    const post = caller(first)
    const acknowledged: number[] = []
    const lanes = Array.from({ length: 16 }, async (_, lane) => {
      for (let number = lane; ; number += 16) {
        const { status } = await post('POST', '/logs/demo', { ...log, eventId: number })
        if (status !== 201) throw new Error(`answered ${status}`)
        if (acknowledged.push(number) === 200) first.child.kill('SIGTERM')
      }
    })
    for (const { reason } of (await Promise.allSettled(lanes)) as PromiseRejectedResult[]) {
      expect(String(reason)).toContain('fetch failed')
    }
    expect(await first.exit).toEqual([0, null])

    const second = await ready('--data', data.path)
    const { body } = await caller({ url: second.url, apiKey: first.apiKey })('GET', '/api/logs/demo?limit=1000')
    const stored = new Set(body.list.map(({ eventId }: { eventId: number }) => eventId))
    expect(acknowledged.length).toBeGreaterThanOrEqual(200)
    expect(acknowledged.filter((number) => !stored.has(number))).toEqual([])
  })
})
