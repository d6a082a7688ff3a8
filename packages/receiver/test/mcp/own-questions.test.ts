import { EventEmitter, once } from 'node:events'
import type { ServerResponse } from 'node:http'
import fastify from 'fastify'
import { describe, expect, it } from 'vitest'
import { Connections } from '../../dist/http/connections.js'
import { Searches } from '../../dist/http/searches.js'
import { searchLogs } from '../../dist/mcp/search-logs.js'

describe('a question of the receiver to itself', () => {
  it('ends its search when it is ended', async () => {
    const app = fastify()
    const searches = new Searches()
    const asked = new EventEmitter()
    const begun = once(asked, 'search')
    app.decorateRequest('apiKey', null)
    app.get('/search', (request, reply) =>
      searches.answer({ request, reply }, (signal) => {
        asked.emit('search', signal)
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      }),
    )
    const ending = new AbortController()
    const answer = app.inject({ url: '/search', signal: ending.signal }).catch(() => 'ended')
    const [signal] = (await begun) as [AbortSignal]
    ending.abort()
    expect(await answer).toBe('ended')
    await expect.poll(() => signal.aborted).toBe(true)
    await app.close()
  })

  it('is not kept among the connections', () => {
    let isDestroyed = false
    const socket = Object.assign(new EventEmitter(), { destroy: () => (isDestroyed = true) })
    const connections = new Connections()
    expect(connections.takes({ req: { socket, complete: false } } as object as ServerResponse)).toBe(true)
    connections.drop()
    expect(isDestroyed).toBe(false)
  })
})

describe('a search that took too long', () => {
  it('says how far it came, and goes on from there', async () => {
    const record = {
      id: 90,
      receivedAt: '',
      timeStamp: 1_700_000_000_000,
      level: 'info',
      message: 'a',
      appName: 'shop',
    }
    const asked: string[] = []
    const receiver = {
      bucket: 'demo',
      async ask(path: string) {
        asked.push(path)
        return asked.length === 1 ? { total: 1, list: [record], next: 40, incomplete: true } : { total: 0, list: [] }
      },
    }
    const lines = (await searchLogs.answer({ q: 'a' }, receiver)).split('\n')
    expect(lines.slice(2)).toEqual([
      '90 2023-11-14T22:13:20.000Z info shop "a"',
      'The search took too long and has not looked at records older than ID 40: go on with the cursor, or narrow q, for example by since:1h.',
      'cursor: 40',
    ])
    expect((await searchLogs.answer({ q: 'a', cursor: '40' }, receiver)).endsWith('\nend')).toBe(true)
    expect(asked[1]).toBe('/api/logs/demo?q=a&limit=25&before=40')
  })
})
