import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Outcome } from '../../src/delivery/sender.js'
import { TextBatch } from '../../src/delivery/text-batch.js'
import { classify } from '../../src/http/classify.js'
import { ConnectionLife } from '../../src/http/connection-life.js'
import { PipelinedConnection } from '../../src/http/pipelined-connection.js'
import { PartBounds } from '../../src/http/request-writer.js'
import { Transmission } from '../../src/http/transmission.js'
import type { Wire } from '../../src/http/wire.js'
import { word } from '../support/batch.js'
import { runs } from '../support/full.js'
import { settle, VirtualClock } from '../support/virtual-clock.js'

/** A wire that keeps what is written. */
class HeldWire implements Wire {
  readonly written: Buffer[] = []

  write(bytes: Buffer): void {
    this.written.push(bytes)
  }

  end(): void {}

  destroy(): void {}
}

const keyOf = (index: number) => `0b5c2a55-${(1290 + index).toString(36)}`

/** A connection that carries a batch of so many records. */
function carry(count: number) {
  const wire = new HeldWire()
  const outcomes: Outcome[] = []
  const events: string[] = []
  const watch = {
    saw() {},
    answered() {},
    broke: () => events.push('broke'),
    misunderstood: (reason: string) => events.push(reason),
  }
  const connection = new PipelinedConnection({
    wire,
    loop: new VirtualClock(),
    requestTimeoutMs: 1000,
    watch,
    kind: 'logs',
    life: new ConnectionLife(),
    owner: { free: () => events.push('free'), lost: () => events.push('lost') },
  })
  const records = Array.from({ length: count }, (_, index) => {
    const body = `{"n":${index}}`
    return { body, bytes: body.length, idempotencyKey: keyOf(index) }
  })
  const settle = (from: number, outcome: Outcome, times = 1) => {
    for (let index = from; index < from + times; index++) {
      if (outcomes[index] !== undefined) throw new Error(`record ${index} has two outcomes`)
      outcomes[index] = outcome
    }
  }
  const transmission = () =>
    new Transmission({
      batch: new TextBatch({ kind: 'logs', bucket: 'b', records, settle, done: () => events.push('done') }),
      head: () => ({ apiKey: 'key', bytes: Buffer.from('POST / HTTP/1.1\r\nidempotency-key: ') }),
      apiKey: { reveal: () => 'key', renew: () => false },
      parts: new PartBounds({ secure: false }),
    })
  connection.carry(transmission())
  const again = () => {
    outcomes.length = 0
    connection.carry(transmission())
  }
  const receive = (text: string) => connection.received(Buffer.from(text, 'latin1'))
  return { wire, connection, receive, outcomes, events, again }
}

interface Sent {
  readonly status: number
  readonly body: string
  readonly key: 'right' | 'wrong' | 'none'
  /** Fields that say nothing about a record. `#` stands for a number that is another one in each answer. */
  readonly fields: string
}

function textOf({ status, body, key, fields }: Sent, index: number): string {
  const echo = {
    right: `idempotency-key: ${keyOf(index)}\r\n`,
    wrong: `idempotency-key: ${keyOf(index + 1)}\r\n`,
    none: '',
  }
  return `HTTP/1.1 ${status} S\r\n${fields.replaceAll('#', `${index}`)}${echo[key]}content-length: ${body.length}\r\n\r\n${body}`
}

/** The outcomes of a batch, from answers that are each understood alone. `sizes` cuts their bytes. */
function expected(sent: readonly Sent[], { count, pieces }: { count: number; pieces: readonly string[] }): string[] {
  const words: string[] = new Array(count).fill('ambiguous')
  const ends: number[] = []
  for (const [index, each] of sent.entries()) ends.push((ends.at(-1) ?? 0) + textOf(each, index).length)
  let [answered, settled, arrived, differ] = [0, 0, 0, false]
  const settle = () => {
    for (; settled < answered; settled++) words[settled] = word(classify(sent[settled]!, 0))
    differ = false
  }
  for (const piece of pieces) {
    arrived += piece.length
    for (; answered < sent.length && ends[answered]! <= arrived; ) {
      const { key } = sent[answered]!
      if (answered === count || key === 'wrong') return words
      differ ||= word(classify(sent[answered]!, 0)) !== 'delivered'
      answered++
      if (key === 'right') settle()
    }
    if (answered === count && arrived > (ends[answered - 1] ?? 0)) return words
    if (!differ || answered === count) settle()
  }
  // The connection ends behind a 400 that is to no certain request.
  if (settled < answered && sent[answered - 1]!.status === 400) answered--
  settle()
  return words
}

describe('the outcomes of a batch', () => {
  const bodies = fc.constantFrom('{"result":true}', '{"result":true}', '{"result":false}', '{}')
  const statuses = fc.constantFrom(201, 201, 201, 201, 200, 400, 503)
  const fields = fc.constantFrom('', 'x-correlation-id: #\r\n', 'date: #\r\nx-turn: #\r\n', 'etag: x\r\n')
  const one = (key: fc.Arbitrary<Sent['key']>) => fc.record({ status: statuses, body: bodies, key, fields })
  const several = (key: fc.Arbitrary<Sent['key']>) =>
    fc
      .array(fc.tuple(one(key), fc.integer({ min: 1, max: 40 })), { maxLength: 6 })
      .map((runs) => runs.flatMap(([each, times]) => new Array<Sent>(times).fill(each)))
  const rarely = fc.nat({ max: 30 }).map((turn) => turn === 0)
  const mixes = fc.oneof(
    several(fc.constant('none')),
    several(fc.constant('right')),
    several(rarely.map((wrong) => (wrong ? 'wrong' : 'right'))),
    several(fc.constantFrom('right', 'none', 'right', 'wrong')),
  )
  const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1000, max: 20_000 })), {
    minLength: 1,
    maxLength: 20,
  })

  it('are those of each answer alone, whatever pieces the answers come in and whatever their mix', () => {
    fc.assert(
      fc.property(mixes, sizes, fc.integer({ min: -1, max: 3 }), (sent, lengths, more) => {
        const count = Math.max(1, sent.length + more)
        const text = sent.map(textOf).join('')
        const pieces: string[] = []
        for (let at = 0, turn = 0; at < text.length; turn++) {
          const size = lengths[turn % lengths.length]!
          pieces.push(text.slice(at, at + size))
          at += size
        }
        const { connection, receive, outcomes } = carry(count)
        connection.flushed()
        for (const piece of pieces) receive(piece)
        connection.destroy('the test is over')
        expect(outcomes.map(word)).toEqual(expected(sent, { count, pieces }))
      }),
      { seed: 19, numRuns: runs({ some: 150, all: 20_000 }) },
    )
  })
})

describe('a connection', () => {
  const success = (index: number, body = '{"result":true}') =>
    textOf({ status: 201, body, key: 'right', fields: '' }, index)

  it('writes requests from memory of its own, which serves again when all are answered and gone', () => {
    const { wire, connection, receive, outcomes, events, again } = carry(2)
    const requests = 'POST / HTTP/1.1\r\nidempotency-key: '
    const request = (index: number) => `${requests}${keyOf(index)}\r\ncontent-length: 7\r\n\r\n{"n":${index}}`
    expect(Buffer.concat(wire.written).toString()).toBe(request(0) + request(1))
    receive(success(0) + success(1))
    expect({ words: outcomes.map(word), events }).toEqual({ words: ['delivered', 'delivered'], events: [] })
    connection.flushed()
    expect(events).toEqual(['free', 'done'])
    again()
    expect(wire.written[1]!.toString()).toBe(request(0) + request(1))
    expect(wire.written[1]!.buffer).toBe(wire.written[0]!.buffer)
  })

  it('keeps the memory for many requests while batches come, and gives it up when it is idle', async () => {
    const { wire, connection, receive, events, again } = carry(500)
    const answers = Array.from({ length: 500 }, (_, index) => success(index)).join('')
    for (let turn = 0; turn < 3; turn++) {
      connection.flushed()
      receive(answers)
      if (turn < 2) again()
      await settle()
    }
    expect(events).toEqual(['free', 'done', 'free', 'done', 'free', 'done'])
    again()
    const [first, ...later] = wire.written.map(({ buffer }) => buffer)
    expect(later.map((each) => each === first)).toEqual([true, true, false])
  })

  it('keeps a small memory when it is idle', async () => {
    const { wire, connection, receive, again } = carry(2)
    connection.flushed()
    receive(success(0) + success(1))
    await settle()
    again()
    expect(wire.written[1]!.buffer).toBe(wire.written[0]!.buffer)
  })

  it.each([0, 1, 2])('leaves the requests alone where it ends before all have gone, with %d answers', (answers) => {
    const { wire, connection, receive, outcomes, events } = carry(2)
    const written = wire.written[0]!
    const before = Buffer.from(written)
    for (let index = 0; index < answers; index++) receive(success(index))
    connection.end('it ends')
    expect(outcomes.map(word)).toEqual([0, 1].map((index) => (index < answers ? 'delivered' : 'ambiguous')))
    expect(events).toEqual(['lost', 'done'])
    expect(written.equals(before)).toBe(true)
  })

  it('believes no answer with the key of another request, though the connection breaks in its body', () => {
    const { connection, receive, outcomes, events } = carry(2)
    connection.flushed()
    receive(success(1).slice(0, -3))
    connection.destroy('it broke')
    expect(outcomes.map(word)).toEqual(['ambiguous', 'ambiguous'])
    expect(events).toEqual(['it is that to another request', 'lost', 'done'])
  })

  it('believes the status of an answer whose body breaks off', () => {
    const { connection, receive, outcomes } = carry(2)
    connection.flushed()
    receive(success(0).slice(0, -3))
    connection.destroy('it broke')
    expect(outcomes.map(word)).toEqual(['delivered', 'ambiguous'])
  })
})
