import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Disk } from '../../../test/support/disk.js'
import { Room } from '../dist/storage/out-of-space.js'
import { visit } from './browser.js'
import { killAll, ready } from './processes.js'
import { type Answer, article, caller, log } from './support.js'

let disk: Disk
beforeEach(() => {
  disk = new Disk('20m')
})
afterEach(async () => {
  await killAll()
  disk.close()
})

const full = 'the disk of the receiver is full: database or disk is full'

describe('a receiver whose disk is full', () => {
  it('answers 507 with Retry-After, is not ready, lives, reads, loses nothing that it acknowledged, and recovers', async (context) => {
    if (!disk.mounted) {
      console.warn('SKIPPED: mounting is not permitted here (mount -t tmpfs)')
      return context.skip()
    }
    const receiver = await ready('--data', disk.folder)
    const call = caller(receiver)
    const acknowledged: string[] = []
    const send = async (key: string): Promise<Answer> => {
      const record = { ...log, message: `${key} ${'x'.repeat(20_000)}` }
      const answer = await call('POST', '/logs/demo', record, { 'idempotency-key': key })
      if (answer.status === 201) acknowledged.push(key)
      return answer
    }
    await call('POST', '/api/projects/demo/content-types', article)
    for (let number = 0; number < 50; number++) await send(`early-${number}`)
    expect(await call('GET', '/api/ready')).toMatchObject({ status: 200 })
    // The first read makes the index of words.
    expect((await call('GET', '/api/logs/demo?limit=1')).body.total).toBe(50)

    disk.fill()
    const answers = await Promise.all(Array.from({ length: 20 }, (_, number) => send(`full-${number}`)))
    const refused = answers.at(-1)!
    expect(refused.status).toBe(507)
    expect(refused.headers.get('retry-after')).toBe('10')
    expect(refused.body).toEqual({
      success: false,
      result: false,
      validationErrors: [],
      errors: [{ correlationId: refused.headers.get('x-correlation-id'), message: full }],
    })
    const entry = { fields: { title: 'x', body: { type: 'doc', content: [] } } }
    const entries = '/ng-cms/content/demo/article'
    // A small write may still find room in what SQLite has of the disk.
    await vi.waitUntil(async () => (await call('POST', entries, { fields: { title: 'x' } })).status === 507)
    const { body } = await call('POST', entries, entry)
    expect(JSON.stringify(body)).not.toContain('stack')
    await vi.waitUntil(async () => (await call('GET', '/api/ready')).status === 503, { timeout: 5000 })
    expect((await call('GET', '/api/ready')).body.errors[0].message).toBe(
      'the store cannot be used: database or disk is full',
    )
    expect(await call('GET', '/api/health')).toMatchObject({ status: 200, body: { status: 'ok' } })
    expect((await call('GET', '/api/logs/demo?limit=1')).body.total).toBe(acknowledged.length)

    disk.free()
    for (let number = 0; number < 20; number++) expect((await send(`full-${number}`)).status).toBe(201)
    await vi.waitUntil(async () => (await call('GET', '/api/ready')).status === 200, { timeout: 5000 })
    await expectStored(call, acknowledged)
    receiver.child.kill('SIGKILL')
    await receiver.exit
    const again = await ready('--data', disk.folder)
    await expectStored(caller({ url: again.url, apiKey: receiver.apiKey }), acknowledged)
  })
})

describe('the page of a receiver whose disk is full', () => {
  it('opens with the same address when there is room', async (context) => {
    if (!disk.mounted) {
      console.warn('SKIPPED: mounting is not permitted here (mount -t tmpfs)')
      return context.skip()
    }
    const receiver = await ready('--data', disk.folder)
    const call = caller(receiver)
    disk.fill()
    await vi.waitUntil(async () => (await call('POST', '/logs/demo', log)).status === 507)
    const path = receiver.page.slice(new URL(receiver.page).origin.length)
    expect((await visit(receiver.url, { path })).status).toBe(507)
    disk.free()
    expect((await visit(receiver.url, { path })).status).toBe(303)
    expect((await visit(receiver.url, { path })).status).toBe(401)
  })
})

describe('a receiver whose disk is full before the first search', () => {
  it('answers 507 to it, for it cannot make the index of words, and searches when there is room', async (context) => {
    if (!disk.mounted) {
      console.warn('SKIPPED: mounting is not permitted here (mount -t tmpfs)')
      return context.skip()
    }
    const call = caller(await ready('--data', disk.folder))
    let refused: Answer | undefined
    // The index may take a record before the disk is full.
    await vi.waitUntil(
      async () => {
        disk.free()
        await call('POST', '/logs/demo', log)
        disk.fill()
        refused = await call('GET', '/api/logs/demo?text=hello')
        return refused.status === 507
      },
      { timeout: 60_000 },
    )
    expect((await call('GET', '/api/logs/demo')).status).toBe(200)
    expect([refused!.status, refused!.headers.get('retry-after')]).toEqual([507, '10'])
    expect(refused!.body.errors[0].message).toBe(full)
    disk.free()
    expect((await call('GET', '/api/logs/demo?text=hello')).body.total).toBeGreaterThan(0)
  })
})

/** Each acknowledged record is there once, and no other. */
async function expectStored(call: ReturnType<typeof caller>, keys: readonly string[]): Promise<void> {
  const { list } = (await call('GET', '/api/logs/demo?limit=1000')).body as { list: { message: string }[] }
  expect(list.map(({ message }) => message.split(' ')[0]).sort()).toEqual([...new Set(keys)].sort())
}

describe('the room on a disk', () => {
  const isFull = Object.assign(new Error('database or disk is full'), { errcode: 13 })

  it('is denied for ten seconds after a write that found none, or until a write finds some', async () => {
    let nowMs = 0
    const room = new Room(() => nowMs)
    room.check()
    await expect(room.of(Promise.reject(isFull))).rejects.toBe(isFull)
    expect(() => room.check()).toThrow(isFull)
    nowMs = 10_000
    room.check()
    await expect(room.of(Promise.reject(isFull))).rejects.toBe(isFull)
    expect(await room.of(Promise.resolve(7))).toBe(7)
    room.check()
  })

  it('has nothing to do with other errors', async () => {
    const room = new Room()
    await expect(room.of(Promise.reject(new Error('no such table')))).rejects.toThrow('no such table')
    room.check()
  })
})
