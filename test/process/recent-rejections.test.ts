import { channel } from 'node:diagnostics_channel'
import { describe, expect, it, vi } from 'vitest'
import type { RejectedMessage } from '../../src/diagnostics/channel-messages.js'
import { RecentRejections, type RejectionsMessage } from '../../src/process/recent-rejections.js'
import { SharedRejections } from '../../src/process/shared-rejections.js'

const rejected = (at: number, record = '{}'): RejectedMessage => ({
  kind: 'logs',
  bucket: 'b',
  status: 400,
  reason: 'odd',
  validationErrors: [],
  record,
  at,
})
const timesOf = (list: readonly RejectedMessage[]) => list.map(({ at }) => at)
const upTo = (last: number, count: number) => Array.from({ length: count }, (_, index) => last - count + 1 + index)

function setUp() {
  const posted: RejectionsMessage[] = []
  const rejections = new RecentRejections((message) => posted.push(message))
  const publish = (message: unknown) => channel('sluice:rejected').publish(message)
  /** As another thread reads them. */
  const shown = (index = 0) => timesOf(new SharedRejections(posted[index]!.memory).list)
  return { posted, rejections, publish, shown, times: () => timesOf(rejections.list) }
}

/** The records of another thread. */
function another(threadId: number, times: readonly number[]) {
  const shared = new SharedRejections()
  for (const at of times) shared.add(rejected(at))
  shared.write()
  return { shared, message: { type: 'rejections', threadId, memory: shared.memory } as const }
}

describe('the last rejected records of the process', () => {
  it('are the last 100 of all threads by their times', () => {
    const { rejections, publish, times } = setUp()
    for (let at = 1; at <= 150; at += 2) publish(rejected(at))
    rejections.receive(
      another(
        1,
        Array.from({ length: 75 }, (_, index) => 2 * index + 2),
      ).message,
    )
    expect(times()).toEqual(upTo(150, 100))
  })

  it('are read again as often as the other thread has more', () => {
    const { rejections, times } = setUp()
    const { shared, message } = another(1, [1])
    rejections.receive(message)
    expect(times()).toEqual([1])
    shared.add(rejected(2))
    expect(times()).toEqual([1])
    shared.write()
    expect(times()).toEqual([1, 2])
  })

  it('outlive their thread, and the engine that it has closed', () => {
    const { rejections, times } = setUp()
    rejections.receive(another(1, [1, 3]).message)
    rejections.keep(1)
    rejections.keep(2)
    rejections.receive(another(1, [2]).message)
    expect(times()).toEqual([1, 2, 3])
  })

  it('are those of the last look while another thread writes, or has ended in the middle of it', () => {
    const { rejections, times } = setUp()
    const { shared, message } = another(1, [1])
    rejections.receive(message)
    expect(times()).toEqual([1])
    const sequence = new Int32Array(shared.memory, 0, 1)
    sequence[0]!++
    expect(times()).toEqual([1])
    rejections.receive(message)
    expect(times()).toEqual([])
  })

  it('are without those of an older copy of the package, which have neither record nor time', () => {
    const { publish, times } = setUp()
    publish({ kind: 'logs', bucket: 'b', status: 400, reason: 'odd', validationErrors: [] })
    expect(times()).toEqual([])
  })
})

describe('the other threads', () => {
  it('get one message, whatever number of records is rejected', () => {
    const { posted, rejections, publish, shown } = setUp()
    for (let at = 1; at <= 5000; at++) {
      publish(rejected(at))
      if (at % 100 === 0) rejections.show()
    }
    expect(posted).toHaveLength(1)
    expect(shown()).toEqual(upTo(5000, 100))
  })

  it('see the records of this thread, and of no other', () => {
    const { rejections, publish, shown } = setUp()
    rejections.receive(another(1, [1]).message)
    publish(rejected(2))
    rejections.show()
    expect(shown()).toEqual([2])
  })

  it('see them without a call within a moment', async () => {
    const { publish, shown } = setUp()
    publish(rejected(1))
    await vi.waitFor(() => expect(shown()).toEqual([1]))
  })

  it('see the newest where 100 are too long together', () => {
    const { rejections, publish, shown } = setUp()
    for (let at = 1; at <= 100; at++) publish(rejected(at, '\u{1f600}'.repeat(2048)))
    rejections.show()
    expect(shown()).toEqual(upTo(100, shown().length))
    expect(shown().length).toBeGreaterThan(50)
  })

  it('get new memory after the last look, so that nothing is there twice', () => {
    const { posted, rejections, publish, shown } = setUp()
    publish(rejected(1))
    rejections.showLast()
    publish(rejected(2))
    rejections.show()
    expect([posted.length, shown(0), shown(1)]).toEqual([2, [1], [2]])
  })

  it('are told where they are when they ask', () => {
    const { posted, rejections, publish } = setUp()
    rejections.tell()
    expect(posted).toEqual([])
    publish(rejected(1))
    rejections.tell()
    expect(posted[1]).toEqual(posted[0])
  })
})
