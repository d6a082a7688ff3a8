import { describe, expect, it } from 'vitest'
import { listErrors } from '../../dist/mcp/list-errors.js'

const kind = {
  id: '3f9c',
  type: 'TypeError',
  message: "cannot read properties of <n> (reading 'x')",
  frame: 'placeOrder (src/orders.js)',
  count: 42,
  firstSeen: '2026-01-31T12:00:00.000Z',
  lastSeen: '2026-01-31T13:00:00.000Z',
  apps: ['shop'],
  versions: ['1.4.1', '1.4.2'],
  sample: 123,
  new: true,
}

/** A receiver with as many kinds of errors. */
function receiverWith(total: number) {
  const asked: string[] = []
  return {
    asked,
    bucket: 'demo',
    async ask(path: string) {
      asked.push(path)
      const most = Number(new URL(path, 'http://receiver').searchParams.get('limit'))
      const list = Array.from({ length: Math.min(total, most) }, (_, at) => ({ ...kind, id: `kind-${at}` }))
      return { total, list }
    },
  }
}

describe('list_errors', () => {
  it('shows a kind on one line, with all that it knows of it', async () => {
    const receiver = receiverWith(1)
    const lines = (await listErrors.answer({ since: '1h', app: 'shop', env: 'prod' }, receiver)).split('\n')
    expect(receiver.asked).toEqual(['/api/logs/demo/errors?since=1h&app=shop&env=prod&limit=21'])
    expect(lines.slice(1)).toEqual([
      'Kinds of errors, 1 in all, the most frequent first:',
      'error:kind-0 42 times TypeError "cannot read properties of <n> (reading \'x\')"; at "placeOrder (src/orders.js)"; first 2026-01-31T12:00:00.000Z, last 2026-01-31T13:00:00.000Z; apps shop; versions, the newest first: 1.4.2, 1.4.1; sample 123; new: only the newest version has it',
      'end',
    ])
  })

  it('shows all in pages, up to the hundred most frequent', async () => {
    const receiver = receiverWith(230)
    const seen: string[] = []
    let cursor: string | undefined
    let text = ''
    do {
      text = await listErrors.answer({ limit: 30, ...(cursor === undefined ? {} : { cursor }) }, receiver)
      seen.push(...[...text.matchAll(/^error:(\S+)/gm)].map(([, id]) => id!))
      cursor = /\ncursor: (\d+)$/.exec(text)?.[1]
    } while (cursor !== undefined)
    expect(seen).toEqual(Array.from({ length: 100 }, (_, at) => `kind-${at}`))
    expect(text).toContain('\nOnly the 100 most frequent are listed: ask by app, env or since for others.\nend')
    expect(receiver.asked.every((path) => Number(/limit=(\d+)/.exec(path)![1]) <= 100)).toBe(true)
  })
})
