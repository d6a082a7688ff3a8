import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Ledger } from '../../src/delivery/ledger.js'
import { LedgerBook } from '../../src/delivery/ledger-book.js'
import { thisMachine } from '../../src/engine/machine.js'
import { WorkerPosition } from '../../src/engine/worker-position.js'
import { drainFrame, pinoStart, styleFrame, winstonStart } from '../../src/hand-off/frames.js'
import { ClosedFlag, enginePlan, type WorkerMessage } from '../../src/hand-off/protocol.js'
import { WorkerEngine } from '../../src/hand-off/worker-engine.js'
import { configure } from '../../src/process/configure.js'
import { systemClock } from '../../src/runtime/clock.js'
import { delivered, FaultServer } from '../support/fault-server.js'
import { settle, VirtualClock } from '../support/virtual-clock.js'

const lanes = [
  { kind: 'logs', bucket: 'b' },
  { kind: 'values', bucket: 'b' },
] as const

let server: FaultServer
let spoolDir: string
beforeEach(async () => {
  server = await FaultServer.start(() => delivered)
  spoolDir = mkdtempSync(join(tmpdir(), 'sluice-worker-engine-'))
})
afterEach(async () => {
  await server.close()
  rmSync(spoolDir, { recursive: true })
})

function start({ spools = false, diskIsStalled = false, url = server.url, more = {} } = {}) {
  const { options } = configure({ url, apiKey: 'k', bucket: 'b', ...(spools ? { spoolDir } : {}), ...more }, 'values')
  const book = new LedgerBook(lanes)
  const flag = new ClosedFlag()
  const clock = new VirtualClock()
  const posted: WorkerMessage[] = []
  /** The ledger as each drain was answered. */
  const answered: Ledger[] = []
  const closed = vi.fn()
  const disk = { watched: false, answers: () => {} }
  const whenDiskAnswers = (_folder: string, answers: () => void) => {
    Object.assign(disk, { watched: true, answers })
    return () => {
      disk.watched = false
    }
  }
  const engine = new WorkerEngine({
    engine: 7,
    position: new WorkerPosition(),
    machine: { ...thisMachine, clock, whenDiskAnswers },
    post(message) {
      posted.push(message)
      if (message.type === 'drained') answered.push(book.read())
    },
    closed,
  })
  const open = () => engine.open(enginePlan(options, { memory: book.memory, closed: flag.memory, diskIsStalled }))
  const take = (frame: string) => {
    const line = Buffer.from(frame.trimEnd())
    engine.take(line, 0, line.length)
  }
  const drained = (request: number) =>
    vi.waitFor(() => expect(posted).toContainEqual({ engine: 7, type: 'drained', request }), { timeout: 10_000 })
  return { answered, book, clock, disk, flag, closed, open, posted, take, drained }
}

it('delivers the lines that came before it was opened, and answers their drain', async () => {
  const { answered, book, open, take, drained } = start()
  take(styleFrame(0, { messageKey: 'text' }))
  take(`${pinoStart(0, { severity: 2, arrivedAt: 0 })}{"level":30,"text":"hello"}`)
  take('v1001,5')
  take(drainFrame('flush', { request: 3, timeoutMs: 5000 }))
  open()
  await drained(3)
  expect(answered).toMatchObject([{ accepted: 2, delivered: 2 }])
  expect(book.taken).toBe(2)
  expect(server.taken.map((body) => JSON.parse(body).message ?? JSON.parse(body).eventId).sort()).toEqual([
    1001,
    'hello',
  ])
})

it('makes the same records of lines as bytes as of lines as text, which come before it is opened', async () => {
  const style = { messageKey: 'text', base: { pid: 1, hostname: 'h' } }
  const winston = (level: string, arrivedAt: number) => winstonStart({ level, severity: 3, arrivedAt })
  const pino = pinoStart(0, { severity: 2, arrivedAt: 0 })
  const lines = [
    `${pino}{"level":30,"time":1700000000000,"pid":1,"hostname":"h","a":1,"text":"plain"}`,
    `${pino}{"level":50,"time":1700000000001,"pid":1,"hostname":"other","text":"another host: \\" ü 😀"}`,
    `${pino}{"level":30,"time":1700000000001,"pid":1,"hostname":"h","text":"nested","a":{"b":[1,{"c":null}]}}`,
    `${pino}no JSON`,
    `${winston('warn', 1_700_000_000_000)}{"level":"warn","message":"of winston","b":true}`,
    `${winston('warn', 1_700_000_000_000)}{"level":"warn","message":"again"}`,
    `${winston('ünusual', 1_700_000_000_001)}{"level":"ünusual","message":"with an escape: \\n"}`,
    'v1001,1700000000000',
    'v9007199254740991,-5',
    'v7,1700000000000.5',
    '3{"timeStamp":5,"level":"info","message":"mapped before"',
  ]
  const bodies = async (openFirst: boolean) => {
    const { open, take, drained } = start()
    if (openFirst) open()
    take(styleFrame(0, style))
    for (const line of lines) take(line)
    take(drainFrame('flush', { request: 1, timeoutMs: 5000 }))
    if (!openFirst) open()
    await drained(1)
    return server.taken.splice(0).sort()
  }
  const asBytes = await bodies(true)
  expect(asBytes).toHaveLength(lines.length)
  expect(asBytes).toEqual(await bodies(false))
})

it('shows in shared memory that it is closed, and tells the worker', async () => {
  const { flag, closed, open, take, drained } = start()
  open()
  const isClosed = flag.wait(systemClock, 5000)
  take(drainFrame('flush', { request: 1, timeoutMs: 5000 }))
  await drained(1)
  expect(isClosed(0)).toBe(false)
  expect(closed).not.toHaveBeenCalled()
  take(drainFrame('close', { request: 2, timeoutMs: 5000 }))
  await drained(2)
  expect(isClosed(0)).toBe(true)
  expect(closed).toHaveBeenCalledOnce()
})

it('uses no spool whose disk has stalled until that disk answers', async () => {
  const { book, disk, open, take, drained } = start({ spools: true, diskIsStalled: true })
  open()
  take('v1001,5')
  await settle()
  expect(readdirSync(spoolDir)).toEqual([])
  disk.answers()
  take('v1002,5')
  await settle()
  expect(readdirSync(spoolDir, { recursive: true }).join()).toContain('.ndjson')
  take(drainFrame('close', { request: 1, timeoutMs: 5000 }))
  await drained(1)
  expect(book.read()).toMatchObject({ accepted: 2, delivered: 2 })
  expect(disk.watched).toBe(false)
})

it('watches a stalled disk until it is closed, and a flush ends no watch', async () => {
  const { disk, open, take, drained } = start({ spools: true, diskIsStalled: true })
  open()
  take(drainFrame('flush', { request: 1, timeoutMs: 5000 }))
  await drained(1)
  expect(disk.watched).toBe(true)
  take(drainFrame('close', { request: 2, timeoutMs: 5000 }))
  await drained(2)
  expect(disk.watched).toBe(false)
})

it('watches no disk that has answered so far', () => {
  const { disk, open } = start({ spools: true })
  open()
  expect(disk.watched).toBe(false)
})

it('posts what the service rejects to the application', async () => {
  const { open, posted, take, drained } = start()
  server.script = () => ({ type: 'answer', status: 400, body: '{"result":false}' })
  open()
  take('v1001,5')
  take(drainFrame('flush', { request: 1, timeoutMs: 5000 }))
  await drained(1)
  expect(posted[0]).toMatchObject({
    engine: 7,
    type: 'news',
    news: {
      type: 'rejected',
      lane: { kind: 'values', bucket: 'b' },
      about: { status: 400, body: expect.stringContaining('"eventId":1001') },
    },
  })
})

it('posts once in a turn that records were dropped: their numbers are in the ledger', async () => {
  const { book, open, posted, take, drained } = start({ more: { maxQueueRecords: 10 } })
  open()
  for (let event = 0; event < 50; event++) take(`v${event},5`)
  take(drainFrame('flush', { request: 1, timeoutMs: 5000 }))
  await drained(1)
  expect(posted).toEqual([
    { engine: 7, type: 'news', news: { type: 'dropped' } },
    { engine: 7, type: 'drained', request: 1 },
  ])
  expect(book.read().lanes[1]).toMatchObject({ delivered: 10, dropped: { 'queue-full': 40 } })
})

it.each(['flush', 'park', 'close'] as const)(
  'answers a %s at its deadline, whatever the service does',
  async (mode) => {
    const { answered, clock, open, take, drained } = start()
    server.script = () => ({ type: 'silence' })
    open()
    take('v1001,5')
    take(drainFrame(mode, { request: 1, timeoutMs: 300 }))
    await clock.advance(299)
    expect(answered).toEqual([])
    await clock.advance(1)
    await drained(1)
    expect(answered).toMatchObject([{ accepted: 1, delivered: 0 }])
  },
)

it('leaves the report of records that its close drops to the application’s side', async () => {
  const { clock, open, posted, take, drained } = start({ url: 'http://127.0.0.1:1' })
  open()
  take('v1001,5')
  take(drainFrame('close', { request: 1, timeoutMs: 300 }))
  await clock.advance(300)
  await drained(1)
  expect(posted).toEqual([{ engine: 7, type: 'drained', request: 1 }])
})
