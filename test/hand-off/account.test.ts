import { describe, expect, it } from 'vitest'
import { LedgerBook } from '../../src/delivery/ledger-book.js'
import type { Reporter } from '../../src/diagnostics/reporter.js'
import { HandOffAccount } from '../../src/hand-off/account.js'
import { addsUp } from '../support/delivery.js'

const both = [
  { kind: 'logs', bucket: 'b' },
  { kind: 'values', bucket: 'c' },
] as const

function setUpAccount({ lanes = both as readonly (typeof both)[number][], spools = false } = {}) {
  const book = new LedgerBook(lanes)
  const told: string[] = []
  const reporter = {
    dropped: ({ kind }: { kind: string }, { reason, count }: { reason: string; count: number }) =>
      told.push(`${count} ${kind} ${reason}`),
    lostWithWorker: ({ kind }: { kind: string }, count: number) => told.push(`${count} ${kind} lost`),
  } as unknown as Reporter
  return { account: new HandOffAccount({ lanes, book, reporter, spools }), book, told }
}

describe('the account of a hand-off', () => {
  it('knows the lane of each kind, and that a kind has none', () => {
    expect(['logs', 'values'].map((kind) => setUpAccount().account.laneOf(kind as 'logs'))).toEqual([0, 1])
    const { account, told } = setUpAccount({ lanes: both.slice(1) })
    expect([account.laneOf('logs'), account.laneOf('values')]).toEqual([-1, 0])
    account.drop('logs', 'closed')
    expect(account.ledger()).toMatchObject({ accepted: 0 })
    expect(told).toEqual([])
  })

  it('counts records as queued, those in the pipe and those of the engine', () => {
    const { account, book } = setUpAccount()
    account.accept('logs')
    account.accept('logs')
    account.accept('values')
    expect(account.written).toBe(3)
    expect(account.ledger().lanes.map(({ accepted, queued }) => [accepted, queued])).toEqual([
      [2, 2],
      [1, 1],
    ])
    // The engine takes one of them.
    book.move(0, 'taken', 'queued', 1, 1)
    expect(account.ledger()).toMatchObject({ accepted: 3, queued: 3 })
    book.move(0, 'queued', 'inFlight', 1, 0)
    book.move(0, 'inFlight', 'delivered', 1, 1)
    expect(account.ledger()).toMatchObject({ accepted: 3, queued: 2, delivered: 1 })
    expect(addsUp(account.ledger())).toBe(true)
    expect(account.written).toBe(3)
  })

  it('counts a record in the only lane that there is', () => {
    const { account } = setUpAccount({ lanes: both.slice(1) })
    account.accept('values')
    expect([account.written, account.ledger()]).toMatchObject([1, { accepted: 1, queued: 1 }])
  })

  it('adds up the bad numbers of both sides', () => {
    const { account, book } = setUpAccount()
    account.invalid = 2
    book.invalid()
    expect(account.ledger().invalid).toBe(3)
  })

  it('reports each record that it drops, and counts it', () => {
    const { account, told } = setUpAccount()
    account.drop('values', 'hand-off-full')
    account.drop('values', 'hand-off-full')
    account.drop('logs', 'closed')
    expect(told).toEqual(['1 values hand-off-full', '1 values hand-off-full', '1 logs closed'])
    expect(account.ledger()).toMatchObject({ accepted: 3, dropped: { 'hand-off-full': 2, closed: 1 } })
    expect(addsUp(account.ledger())).toBe(true)
    // They were never written into the pipe, and are told.
    expect(account.written).toBe(0)
    account.tellDrops()
    expect(told).toHaveLength(3)
  })

  it('reports each drop of the engine once, by its reason', () => {
    const { account, book, told } = setUpAccount()
    book.move(0, 'none', 'queue-full', 2, 1)
    book.move(0, 'none', 'too-old', 1, 1)
    book.move(1, 'none', 'queue-full', 3, 1)
    account.tellDrops()
    expect(told.splice(0).toSorted()).toEqual(['1 logs too-old', '2 logs queue-full', '3 values queue-full'])
    account.tellDrops()
    expect(told).toEqual([])
    book.move(1, 'none', 'queue-full', 1, 1)
    account.tellDrops()
    account.tellDrops()
    expect(told).toEqual(['1 values queue-full'])
  })

  it('leaves to others what the end of the engine drops', () => {
    const { account, book, told } = setUpAccount()
    book.move(0, 'none', 'shutdown', 2, 1)
    book.move(1, 'none', 'worker-failed', 3, 1)
    account.tellDrops()
    expect(told).toEqual([])
    expect(account.ledger()).toMatchObject({ accepted: 5, dropped: { shutdown: 2, 'worker-failed': 3 } })
  })

  it('drops a record at which the worker stopped: it is no longer on its way', () => {
    const { account, book, told } = setUpAccount()
    account.accept('logs')
    account.accept('values')
    account.accept('values')
    account.dropUnreadable('values')
    expect(account.ledger()).toMatchObject({ accepted: 3, queued: 2, dropped: { unreadable: 1 } })
    expect(account.ledger().lanes[1]).toMatchObject({ accepted: 2, queued: 1, dropped: { unreadable: 1 } })
    // The next worker counts on: it is never taken.
    expect(book.taken).toBe(1)
    book.move(1, 'taken', 'queued', 1, 1)
    expect(account.ledger().lanes[1]).toMatchObject({ accepted: 2, queued: 1, dropped: { unreadable: 1 } })
    account.tellDrops()
    account.tellDrops()
    expect(told).toEqual(['1 values unreadable'])
  })

  it.each([true, false])('tells what was lost with a worker, and what is on disk, where it spools: %s', (spools) => {
    const { account, book, told } = setUpAccount({ spools })
    for (let record = 0; record < 6; record++) account.accept('logs')
    for (let record = 0; record < 5; record++) book.move(0, 'taken', 'queued', 1, 1)
    book.count(0, 'onDisk', 2)
    expect(account.dropWithWorker()).toEqual(spools ? { lost: 3, spooled: 2 } : { lost: 5, spooled: 0 })
    expect(told).toEqual([`${spools ? 3 : 5} logs lost`])
    // What is in the pipe is not lost.
    expect(account.ledger()).toMatchObject({ accepted: 6, queued: 1, spooled: spools ? 2 : 0 })
    expect(account.dropWithWorker()).toEqual({ lost: 0, spooled: 0 })
    account.tellDrops()
    expect(told).toHaveLength(1)
  })

  it.each([true, false])('counts the rest as dropped after a close, or as spooled where it spools: %s', (spools) => {
    const { account, book } = setUpAccount({ spools })
    for (let record = 0; record < 5; record++) account.accept('values')
    for (let record = 0; record < 4; record++) book.move(1, 'taken', 'queued', 1, 1)
    book.count(1, 'onDisk', 3)
    const closed = account.closed()
    expect(closed).toMatchObject({
      accepted: 5,
      queued: 0,
      spooled: spools ? 3 : 0,
      dropped: { shutdown: spools ? 2 : 5 },
    })
    expect(closed.lanes.map(({ state }) => state)).toEqual(['closed', 'closed'])
    expect(addsUp(closed)).toBe(true)
  })

  it('counts nothing twice where an engine in this thread takes over', () => {
    const { account, book } = setUpAccount()
    account.accept('logs')
    book.move(0, 'taken', 'queued', 1, 1)
    for (let record = 0; record < 2; record++) account.accept('logs')
    // It takes what is in the pipe as an application's records.
    for (let record = 0; record < 2; record++) book.move(0, 'none', 'queued', 1, 1)
    account.deliverDirectly()
    expect(account.ledger()).toMatchObject({ accepted: 3, queued: 3 })
    book.move(0, 'none', 'queued', 1, 1)
    expect(account.ledger()).toMatchObject({ accepted: 4, queued: 4 })
  })
})
