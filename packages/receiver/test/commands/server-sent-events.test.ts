import { describe, expect, it } from 'vitest'
import { serverSentEvents } from '../../src/commands/server-sent-events.js'

async function eventsOf(bytes: Uint8Array, pieceBytes: number) {
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
  }
  const events = []
  for await (const event of serverSentEvents(pieces())) events.push(event)
  return events
}

const stream =
  'retry: 1000\n: still here\n\nevent: logs\nid: a.1.2\ndata: ["ü: 😀"]\n\ndata:one\r\ndata: two\r\n\r\nevent: logs\nid: a.1.3\ndata: cut'

describe('server-sent events', () => {
  it.each([1, 2, 3, 7, 1000])('are read from pieces of %i bytes, whole events alone', async (pieceBytes) => {
    expect(await eventsOf(Buffer.from(stream), pieceBytes)).toEqual([
      { event: 'logs', id: 'a.1.2', data: '["ü: 😀"]' },
      { event: 'message', id: undefined, data: 'one\ntwo' },
    ])
  })

  it('end with an error where a line has no end', async () => {
    await expect(eventsOf(Buffer.alloc(17_000_000, 'x'), 1_000_000)).rejects.toThrow('more than 16777216 characters')
  })
})
