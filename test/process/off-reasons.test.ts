import { threadId } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { type OffMessage, OffReasons } from '../../src/process/off-reasons.js'

function setUp() {
  const posted: OffMessage[] = []
  return { posted, reasons: new OffReasons((message) => posted.push(message)) }
}

it('a thread tells the others once why it is off, again to one that asks, and once that it is on', () => {
  const { posted, reasons } = setUp()
  reasons.report(undefined)
  expect(posted).toEqual([])
  reasons.tell()
  expect(posted).toEqual([])
  for (let times = 0; times < 2; times++) reasons.report('no bucket')
  reasons.tell()
  const off = { type: 'off', threadId, reason: 'no bucket' }
  expect(posted.splice(0)).toEqual([off, off])
  expect(reasons.first).toBe('no bucket')
  reasons.report(undefined)
  reasons.tell()
  expect(posted).toEqual([{ type: 'off', threadId, reason: undefined }])
  expect(reasons.first).toBeUndefined()
})

it('the process is off while one of its threads is, and nothing is told on for another thread', () => {
  const { posted, reasons } = setUp()
  reasons.receive({ type: 'off', threadId: threadId + 1, reason: 'a wrong URL' })
  expect(reasons.first).toBe('a wrong URL')
  reasons.report('no key')
  reasons.receive({ type: 'off', threadId: threadId + 1, reason: undefined })
  expect(reasons.first).toBe('no key')
  expect(posted).toEqual([{ type: 'off', threadId, reason: 'no key' }])
})
