import { channel } from 'node:diagnostics_channel'
import { expect, it } from 'vitest'
import type { RejectedMessage } from '../../src/diagnostics/channel-messages.js'
import { RecentRejections } from '../../src/process/recent-rejections.js'

const rejected = (at: number): RejectedMessage => ({
  kind: 'logs',
  bucket: 'b',
  status: 400,
  reason: 'odd',
  validationErrors: [],
  record: '{}',
  at,
})

function setUp() {
  const told: number[][] = []
  const rejections = new RecentRejections((news) => told.push(news.map(({ at }) => at)))
  const publish = (message: unknown) => channel('sluice:rejected').publish(message)
  return { told, rejections, publish, times: () => rejections.list.map(({ at }) => at) }
}

it('the last 100 rejected records of all threads are held by their times', () => {
  const { rejections, publish, times } = setUp()
  for (let at = 1; at <= 150; at += 2) publish(rejected(at))
  rejections.receive(Array.from({ length: 75 }, (_, index) => rejected(2 * index + 2)))
  expect(times()).toEqual(Array.from({ length: 100 }, (_, index) => index + 51))
})

it('other threads are told once of each record of this thread, and of no other', () => {
  const { told, rejections, publish } = setUp()
  rejections.receive([rejected(1)])
  publish(rejected(2))
  publish(rejected(3))
  rejections.tell()
  rejections.tell()
  publish(rejected(4))
  rejections.tell()
  expect(told).toEqual([[2, 3], [4]])
})

it('of more than 100 records at a time the others hear the last 100', () => {
  const { told, rejections, publish } = setUp()
  for (let at = 1; at <= 120; at++) publish(rejected(at))
  rejections.tell()
  expect(told).toEqual([Array.from({ length: 100 }, (_, index) => index + 21)])
})

it('other threads are told without a call within a moment', async () => {
  const heard = new Promise<readonly RejectedMessage[]>((resolve) => {
    new RecentRejections(resolve)
  })
  const alive = setInterval(() => {}, 1000)
  setUp().publish(rejected(1))
  expect(await heard).toEqual([rejected(1)])
  clearInterval(alive)
})

it('a message of an older copy of the package, without record and time, is left out', () => {
  const { publish, times } = setUp()
  publish({ kind: 'logs', bucket: 'b', status: 400, reason: 'odd', validationErrors: [] })
  expect(times()).toEqual([])
})
