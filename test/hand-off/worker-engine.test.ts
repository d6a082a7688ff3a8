import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { LedgerBook } from '../../src/delivery/ledger-book.js'
import { WorkerPosition } from '../../src/engine/worker-position.js'
import { drainFrame, pinoStart, styleFrame } from '../../src/hand-off/frames.js'
import { ClosedFlag, enginePlan, type WorkerMessage } from '../../src/hand-off/protocol.js'
import { WorkerEngine } from '../../src/hand-off/worker-engine.js'
import { configure } from '../../src/process/configure.js'
import { systemClock } from '../../src/runtime/clock.js'
import { delivered, FaultServer } from '../support/fault-server.js'
import { settle } from '../support/virtual-clock.js'

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

function start({ spools = false, diskIsStalled = false } = {}) {
  const { options } = configure(
    { url: server.url, apiKey: 'k', bucket: 'b', ...(spools ? { spoolDir } : {}) },
    'values',
  )
  const book = new LedgerBook(lanes)
  const flag = new ClosedFlag()
  const posted: WorkerMessage[] = []
  const closed = vi.fn()
  const disk = { watched: false, answers: () => {} }
  const engine = new WorkerEngine({
    engine: 7,
    position: new WorkerPosition(),
    post: (message) => void posted.push(message),
    closed,
    watchDisk(_folder, answers) {
      Object.assign(disk, { watched: true, answers })
      return () => {
        disk.watched = false
      }
    },
  })
  const open = () => engine.open(enginePlan(options, { memory: book.memory, closed: flag.memory, diskIsStalled }))
  const take = (frame: string) => engine.take(frame.trimEnd())
  const drained = (request: number) =>
    vi.waitFor(() => expect(posted).toContainEqual({ engine: 7, type: 'drained', request }), { timeout: 10_000 })
  return { book, disk, flag, closed, open, take, drained }
}

it('delivers the lines that came before it was opened, and answers their drain', async () => {
  const { book, open, take, drained } = start()
  take(styleFrame(0, { messageKey: 'text' }))
  take(`${pinoStart(0, { severity: 2, arrivedAt: 0 })}{"level":30,"text":"hello"}`)
  take('v1001,5')
  take(drainFrame('flush', { request: 3, timeoutMs: 5000 }))
  open()
  await drained(3)
  expect(book.read()).toMatchObject({ accepted: 2, delivered: 2 })
  expect(book.taken).toBe(2)
  expect(server.taken.map((body) => JSON.parse(body).message ?? JSON.parse(body).eventId).sort()).toEqual([
    1001,
    'hello',
  ])
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
