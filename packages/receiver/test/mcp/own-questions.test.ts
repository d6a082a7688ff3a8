import { EventEmitter, once } from 'node:events'
import type { ServerResponse } from 'node:http'
import fastify from 'fastify'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { Connections } from '../../dist/http/connections.js'
import { Searches } from '../../dist/http/searches.js'
import { answerRequest } from '../../dist/mcp/one-request.js'
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

  it.each([
    ['2025-11-25', {}, {}],
    [
      '2026-07-28',
      { 'mcp-method': 'tools/call', 'mcp-name': 'search_logs' },
      {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'editor', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    ],
  ])('ends when the client of the protocol of %s has gone', async (version, named, _meta) => {
    const params = { name: 'search_logs', arguments: { bucket: 'demo' }, _meta }
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': version,
      ...named,
    }
    const gone = new AbortController()
    const init = { method: 'POST', headers, body: JSON.stringify(body), signal: gone.signal }
    let asked: AbortSignal | undefined
    const ask = (_path: string, signal: AbortSignal) => {
      asked = signal
      queueMicrotask(() => gone.abort())
      return new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    }
    const { status } = await answerRequest(new Request('http://receiver/mcp', init), { body, source: { ask } })
    expect(status).toBe(499)
    expect(asked?.aborted).toBe(true)
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

describe('a search that is cut', () => {
  it('goes on, until that takes too long: then it says how far it came', async () => {
    let nowMs = 0
    vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
    onTestFinished(() => void vi.restoreAllMocks())
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
        nowMs += 5000
        const next = 90 - 10 * asked.length
        return asked.length < 4
          ? { total: 1, list: [{ ...record, id: next + 5 }], next, incomplete: true }
          : { total: 0, list: [] }
      },
    }
    const lines = (await searchLogs.answer({ q: 'a' }, receiver)).split('\n')
    expect(lines.slice(2)).toEqual([
      '85 2023-11-14T22:13:20.000Z info shop "a"',
      '75 2023-11-14T22:13:20.000Z info shop "a"',
      'The search took too long and has not looked at records older than ID 70: go on with the cursor, or narrow q, for example by since:1h.',
      'cursor: 70',
    ])
    const rest = (await searchLogs.answer({ q: 'a', cursor: '70' }, receiver)).split('\n')
    expect(rest.slice(2)).toEqual(['65 2023-11-14T22:13:20.000Z info shop "a"', 'end'])
    expect(asked.map((path) => /before=(\d+)/.exec(path)?.[1])).toEqual([undefined, '80', '70', '60'])
  })
})
