import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Outcome } from '../../src/delivery/sender.js'
import { TextBatch } from '../../src/delivery/text-batch.js'
import type { AnswerRun, ReadAnswer } from '../../src/http/read-answer.js'
import { PartBounds, RequestWriter } from '../../src/http/request-writer.js'
import type { KeySource } from '../../src/http/sender-plan.js'
import { Transmission } from '../../src/http/transmission.js'

const success = (body = '{"result":true}'): ReadAnswer => answer(201, body)

/** The service refuses a record. */
const refusal = '{"errors":[]}'

function answer(status: number, body: string): ReadAnswer {
  const nothing = { retryAfter: undefined, location: undefined, echoedKey: undefined }
  const head = { version: '1.1', closes: false, last: false, keepAliveMs: undefined, keepAliveMax: undefined } as const
  return { status, body, complete: true, ...head, ...nothing }
}

/** A batch of records with these bodies; notes what is settled. */
function transmit(
  bodies: readonly string[],
  { head = 'HEAD ', key = 'key', secure = false }: { head?: string | null; key?: string; secure?: boolean } = {},
) {
  const records = bodies.map((body, index) => ({ body, bytes: Buffer.byteLength(body), idempotencyKey: `k${index}` }))
  const settled: string[] = []
  const outcomes: Outcome[] = []
  const events: string[] = []
  const renewed: string[] = []
  const calls: number[] = []
  const apiKey: KeySource = {
    reveal: () => key,
    renew(refused) {
      renewed.push(refused)
      return key === 'old'
    },
  }
  const parts = new PartBounds({ secure })
  const batch = Object.assign(
    new TextBatch({
      kind: 'logs',
      bucket: 'b',
      records,
      settle: (from, outcome, count = 1) => {
        const how = outcome.type === 'retry' ? outcome.exchange : outcome.type
        for (let index = from; index < from + count; index++) {
          outcomes[index] = outcome
          settled.push(`${index} ${how}`)
        }
        calls.push(count)
      },
      done: () => events.push('done'),
    }),
    { parted: () => void events.push('parted') },
  )
  const transmission = new Transmission({
    batch,
    head: () => ({ apiKey: key, bytes: head === null ? undefined : Buffer.from(head) }),
    apiKey,
    parts,
  })
  const writer = new RequestWriter()
  const take = (answer: ReadAnswer, key: AnswerRun['key'], count = 1) => transmission.take({ answer, count, key })
  const write = (most: number) => transmission.write(most, writer)?.toString()
  return { transmission, writer, parts, take, write, settled, outcomes, events, renewed, calls }
}

describe('the requests of a batch', () => {
  it('are written whole, one behind the other, each with its key and its length in bytes', () => {
    const { transmission, events, write } = transmit(['{}', '"ü"'])
    expect(write(8)).toBe('HEAD k0\r\ncontent-length: 2\r\n\r\n{}HEAD k1\r\ncontent-length: 4\r\n\r\n"ü"')
    expect(transmission.awaiting).toBe(2)
    expect(events).toEqual([])
  })

  it('have lengths of one to many digits', () => {
    for (const bytes of [0, 1, 9, 10, 11, 99, 100, 101, 999, 1000, 65_536, 1_234_567]) {
      const body = 'x'.repeat(bytes)
      expect(transmit([body]).write(1)).toBe(`HEAD k0\r\ncontent-length: ${bytes}\r\n\r\n${body}`)
    }
  })

  it('are parted where not all go out at once, until the last has gone', () => {
    const { write, events } = transmit(['"ü"', '{}'])
    write(1)
    expect(events).toEqual(['parted'])
    expect(write(1)).toContain('k1')
    expect(events).toEqual(['parted'])
  })

  it('are whole whatever the lengths of their bodies and keys are, in memory that serves again', () => {
    const writer = new RequestWriter()
    const lengths = fc.array(fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: 3000 })), { minLength: 1, maxLength: 20 })
    fc.assert(
      fc.property(
        lengths,
        fc.string({ maxLength: 30, unit: 'grapheme-ascii' }),
        fc.nat({ max: 19 }),
        (all, head, skipped) => {
          const records = all.map((length, index) => ({
            body: String.fromCharCode(97 + index).repeat(length),
            bytes: length,
            idempotencyKey: 'k'.repeat(1 + ((index * 7) % 30)),
          }))
          const batch = new TextBatch({ kind: 'logs', bucket: 'b', records, settle() {} })
          const from = skipped % all.length
          const expected = records
            .slice(from)
            .map(({ body, bytes, idempotencyKey: key }) => `${head}${key}\r\ncontent-length: ${bytes}\r\n\r\n${body}`)
          const asked = { head: Buffer.from(head), from, end: all.length, maxBytes: 1_000_000 }
          expect(writer.write(batch, asked).bytes.toString()).toBe(expected.join(''))
        },
      ),
      { seed: 11, numRuns: 300 },
    )
  })

  it('are no more than allowed, and no more than there are', () => {
    const { transmission, write } = transmit(['{}', '{}', '{}'])
    expect(write(2)).not.toContain('k2')
    expect(transmission.awaiting).toBe(2)
    expect(write(2)).toContain('k2')
    expect(transmission.awaiting).toBe(3)
  })

  it('are less than 256 KiB in one go, but for a record that is longer', () => {
    const large = 'x'.repeat(200_000)
    const { transmission, write } = transmit([large, 'y'.repeat(62_000), 'z'.repeat(3000), 'w'.repeat(300_000)])
    expect(write(8)!.length).toBeLessThanOrEqual(262_144)
    expect(transmission.awaiting).toBe(2)
    write(8)
    expect(transmission.awaiting).toBe(3)
    write(8)
    expect(transmission.awaiting).toBe(4)
  })

  it('are less than 16 KiB in one go over TLS, and their length bounds the depth', () => {
    const { transmission, parts, write } = transmit(new Array(40).fill('x'.repeat(1000)), { secure: true })
    expect(parts.depth).toBe(Number.POSITIVE_INFINITY)
    expect(write(40)!.length).toBeLessThanOrEqual(16_384)
    expect(transmission.awaiting).toBe(15)
    expect(parts.depth).toBe(63)
    const alone = transmit(['x'.repeat(20_000), 'y'], { secure: true })
    alone.write(2)
    expect(alone.transmission.awaiting).toBe(1)
    expect(alone.parts.depth).toBe(3)
  })

  it('are none where no header can have the key', () => {
    const { transmission, write } = transmit(['{}'], { head: null })
    expect(write(1)).toBeUndefined()
    expect(transmission.awaiting).toBe(0)
  })
})

describe('the answers to a batch', () => {
  it('settle their records in order once they are believed; certain ones, and those before them, at once', () => {
    const { transmission, settled, take, write } = transmit(['a', 'b', 'c', 'd'])
    write(4)
    expect([transmission.hasKey(0, 'k0'), transmission.hasKey(0, 'k1'), transmission.hasKey(3, 'k3')]).toEqual([
      true,
      false,
      true,
    ])
    take(success(), 'none')
    expect(settled).toEqual([])
    expect([transmission.hasKey(0, 'k0'), transmission.hasKey(0, 'k1')]).toEqual([false, true])
    take(success(), 'right')
    expect(settled).toEqual(['0 delivered', '1 delivered'])
    take(success(''), 'none')
    transmission.settleHeld()
    expect(settled).toEqual(['0 delivered', '1 delivered', '2 delivered'])
    expect({ finished: transmission.finished, awaiting: transmission.awaiting }).toEqual({
      finished: false,
      awaiting: 1,
    })
    take(success(), 'none')
    expect(transmission.finished).toBe(true)
  })

  it('that differ are held until the last has come: one that was not expected could have moved them', () => {
    const { transmission, settled, take, write } = transmit(['a', 'b', 'c'])
    write(3)
    take(success(), 'none')
    take(answer(400, refusal), 'none')
    transmission.settleHeld()
    expect(settled).toEqual([])
    take(success(), 'none')
    transmission.settleHeld()
    expect(settled).toEqual(['0 delivered', '1 rejected', '2 delivered'])
    transmission.settleHeld()
    expect(settled).toHaveLength(3)
  })

  it('that differ no longer hold up later ones once a certain answer has come', () => {
    const { transmission, settled, take, write } = transmit(['a', 'b', 'c', 'd'])
    write(4)
    take(answer(400, refusal), 'none')
    take(success(), 'right')
    take(success(), 'none')
    transmission.settleHeld()
    expect(settled).toEqual(['0 rejected', '1 delivered', '2 delivered'])
  })

  it('that are in doubt count for none: their requests may have been carried out', () => {
    const { transmission, settled, outcomes, take, write } = transmit(['a', 'b', 'c'])
    write(3)
    take(success(), 'right')
    take(answer(400, refusal), 'none')
    transmission.doubt('a surplus answer')
    expect(settled).toEqual(['0 delivered', '1 ambiguous'])
    expect(outcomes[1]).toEqual({
      type: 'retry',
      exchange: 'ambiguous',
      reason: 'a surplus answer',
      backPressure: false,
    })
  })

  it('stay with the outcome that each has, whatever the body of a success was before', () => {
    const refused = '{"result":false}'
    const { settled, take, write } = transmit(['a', 'b', 'c', 'd', 'e', 'f'])
    write(6)
    for (const each of [success('{"a":1}'), success('{"a":1}'), success(refused), success('{"a":1}')]) {
      take(each, 'right')
    }
    take(answer(503, '{"a":1}'), 'right')
    take(answer(300, ''), 'right')
    expect(settled).toEqual(['0 delivered', '1 delivered', '2 rejected', '3 delivered', '4 answered', '5 pause'])
  })

  it('that say the same are taken and settled together', () => {
    const { transmission, take, write, settled, calls } = transmit(['a', 'b', 'c', 'd', 'e', 'f', 'g'])
    write(7)
    take(success(), 'right', 2)
    expect({ settled, calls }).toEqual({ settled: ['0 delivered', '1 delivered'], calls: [2] })
    take(success(), 'none', 2)
    take(answer(400, refusal), 'none', 2)
    transmission.settleHeld()
    expect(calls).toEqual([2])
    take(success(), 'right', 1)
    expect(calls).toEqual([2, 2, 2, 1])
    expect(settled.slice(2)).toEqual(['2 delivered', '3 delivered', '4 rejected', '5 rejected', '6 delivered'])
  })

  it('do not repeat the key, and ask for a newer one after 401', () => {
    const said = transmit(['a'], { key: 'secret-key' })
    said.write(1)
    said.take(answer(400, '{"errors":[{"message":"secret-key is bad"}]}'), 'right')
    expect(JSON.stringify(said.outcomes)).toContain('is bad')
    expect(JSON.stringify(said.outcomes)).not.toContain('secret-key')
    const renewed = transmit(['a'], { key: 'old' })
    renewed.write(1)
    renewed.take(answer(401, ''), 'right')
    expect(renewed.settled).toEqual(['0 answered'])
    expect(renewed.renewed).toEqual(['old'])
  })
})

describe('a batch that breaks off', () => {
  it('keeps the answers that came; the rest is ambiguous where it was written, else unsent', () => {
    const { transmission, settled, outcomes, events, take, write } = transmit(['a', 'b', 'c', 'd'])
    write(3)
    take(answer(422, refusal), 'none')
    transmission.breakOff({ reason: 'the connection broke' })
    expect(settled).toEqual(['0 rejected', '1 ambiguous', '2 ambiguous', '3 unsent'])
    expect(outcomes.slice(1).map((each) => 'reason' in each && each.reason)).toEqual(
      new Array(3).fill('the connection broke'),
    )
    expect(outcomes.some((each) => 'backPressure' in each && each.backPressure)).toBe(false)
    expect(events).toEqual(['parted', 'done'])
    expect(transmission.finished).toBe(true)
  })

  it.each([400, 431])(
    'behind a %i has no answer to that request: the server could not read the connection',
    (status) => {
      const { transmission, settled, take, write } = transmit(['a', 'b', 'c', 'd'])
      write(3)
      take(success(), 'none')
      take(answer(status, ''), 'none')
      transmission.breakOff({ reason: 'the server closes the connection' })
      expect(settled).toEqual(['0 delivered', '1 ambiguous', '2 ambiguous', '3 unsent'])
    },
  )

  it('behind a 400 to the last of several requests has no answer to it, either', () => {
    const { transmission, settled, take, write } = transmit(['a', 'b'])
    write(2)
    take(success(), 'none')
    take(answer(400, refusal), 'none')
    transmission.breakOff({ reason: 'the server closes the connection' })
    expect(settled).toEqual(['0 delivered', '1 ambiguous'])
  })

  it('behind a 400 to a request that was alone, or whose key it repeats, keeps it', () => {
    const alone = transmit(['a', 'b'])
    alone.write(1)
    alone.take(answer(400, refusal), 'none')
    alone.transmission.breakOff({ reason: 'the server closes the connection' })
    expect(alone.settled).toEqual(['0 rejected', '1 unsent'])
    const sure = transmit(['a', 'b'])
    sure.write(2)
    sure.take(answer(400, refusal), 'right')
    sure.transmission.breakOff({ reason: 'the server closes the connection' })
    expect(sure.settled).toEqual(['0 rejected', '1 ambiguous'])
  })

  it('asks for less after a time-out, but not for what was never written', () => {
    const { transmission, outcomes, write } = transmit(['a', 'b'])
    write(1)
    transmission.breakOff({ reason: 'no answer', timedOut: true })
    expect(outcomes.map((each) => 'backPressure' in each && each.backPressure)).toEqual([true, false])
  })
})
