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
    expect(account.ledger(0)).toMatchObject({ accepted: 0 })
    expect(told).toEqual([])
  })

  it('counts records as queued: in the outbox, in the ring, in transit, and with the engine', () => {
    const { account, book } = setUpAccount()
    account.accept(0)
    account.accept(0)
    account.accept(1)
    expect(account.ledger(4).lanes.map(({ accepted, queued }) => [accepted, queued])).toEqual([
      [2, 2],
      [5, 5],
    ])
    expect(account.handOver()).toBe(3)
    expect(account.handOver()).toBe(0)
    account.accept(0)
    expect(account.ledger(0)).toMatchObject({ accepted: 4, queued: 4 })
    // The engine takes one of those in transit.
    book.move(0, 'taken', 'queued', 1, 1)
    expect(account.ledger(0)).toMatchObject({ accepted: 4, queued: 4 })
    book.move(0, 'queued', 'inFlight', 1, 0)
    book.move(0, 'inFlight', 'delivered', 1, 1)
    expect(account.ledger(0)).toMatchObject({ accepted: 4, queued: 3, delivered: 1 })
    expect(addsUp(account.ledger(0))).toBe(true)
  })

  it('adds up the bad numbers of both sides', () => {
    const { account, book } = setUpAccount()
    account.invalid = 2
    book.invalid()
    expect(account.ledger(0).invalid).toBe(3)
  })

  it('reports each record that it drops, and counts it', () => {
    const { account, told } = setUpAccount()
    account.drop('values', 'hand-off-full')
    account.drop('values', 'hand-off-full')
    account.drop('logs', 'closed')
    expect(told).toEqual(['1 values hand-off-full', '1 values hand-off-full', '1 logs closed'])
    expect(account.ledger(0)).toMatchObject({ accepted: 3, dropped: { 'hand-off-full': 2, closed: 1 } })
    expect(addsUp(account.ledger(0))).toBe(true)
  })

  it('drops a line at which the worker stopped: it is no longer in transit', () => {
    const { account, told } = setUpAccount()
    account.accept(0)
    account.handOver()
    account.dropUnreadable('logs')
    expect(account.ledger(0)).toMatchObject({ accepted: 1, queued: 0, dropped: { unreadable: 1 } })
    expect(told).toEqual(['1 logs unreadable'])
  })

  it.each([true, false])('tells what was lost with a worker, and what is on disk, where it spools: %s', (spools) => {
    const { account, book, told } = setUpAccount({ spools })
    for (let record = 0; record < 5; record++) account.accept(0)
    account.handOver()
    for (let record = 0; record < 5; record++) book.move(0, 'taken', 'queued', 1, 1)
    book.count(0, 'onDisk', 2)
    expect(account.dropWithWorker()).toEqual(spools ? { lost: 3, spooled: 2 } : { lost: 5, spooled: 0 })
    expect(told).toEqual([`${spools ? 3 : 5} logs lost`])
    expect(account.ledger(0)).toMatchObject({ accepted: 5, queued: 0, spooled: spools ? 2 : 0 })
    expect(account.dropWithWorker()).toEqual({ lost: 0, spooled: 0 })
    expect(told).toHaveLength(1)
  })

  it.each([true, false])('counts the rest as dropped after a close, or as spooled where it spools: %s', (spools) => {
    const { account, book } = setUpAccount({ spools })
    for (let record = 0; record < 5; record++) account.accept(1)
    account.handOver()
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
    account.accept(0)
    account.handOver()
    account.accept(0)
    account.deliverDirectly()
    for (let record = 0; record < 2; record++) book.move(0, 'none', 'queued', 1, 1)
    expect(account.ledger(0)).toMatchObject({ accepted: 2, queued: 2 })
  })
})
