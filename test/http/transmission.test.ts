import { describe, expect, it } from 'vitest'
import type { Outcome } from '../../src/delivery/sender.js'
import type { ReadAnswer } from '../../src/http/response-reader.js'
import type { KeySource } from '../../src/http/sender-plan.js'
import { Transmission } from '../../src/http/transmission.js'

const success = (body = '{"result":true}'): ReadAnswer => answer(201, body)

function answer(status: number, body: string): ReadAnswer {
  const nothing = { retryAfter: undefined, location: undefined, correlationId: undefined, echoedKey: undefined }
  const head = { version: '1.1', closes: false, last: false, keepAliveMs: undefined, keepAliveMax: undefined } as const
  return { status, body, complete: true, ...head, ...nothing }
}

/** A batch of records with these bodies; notes what is settled. */
function transmit(
  bodies: readonly string[],
  { head = 'HEAD ', key = 'key' }: { head?: string | null; key?: string } = {},
) {
  const settled: string[] = []
  const outcomes: Outcome[] = []
  const events: string[] = []
  const renewed: string[] = []
  const apiKey: KeySource = {
    reveal: () => key,
    renew(refused) {
      renewed.push(refused)
      return key === 'old'
    },
  }
  const transmission = new Transmission({
    batch: {
      kind: 'logs',
      bucket: 'b',
      records: bodies.map((body, index) => ({
        body,
        bytes: Buffer.byteLength(body),
        idempotencyKey: `k${index}`,
        sequence: index,
      })),
      probe: false,
      parted: () => events.push('parted'),
      settle: (index: number, outcome: Outcome) => {
        outcomes[index] = outcome
        const how = outcome.type === 'retry' ? outcome.exchange : outcome.type
        settled.push(`${index} ${how}`)
      },
    } as unknown as ConstructorParameters<typeof Transmission>[0]['batch'],
    head: () => ({ apiKey: key, text: head ?? undefined }),
    apiKey,
    done: () => events.push('done'),
  })
  return { transmission, settled, outcomes, events, renewed }
}

describe('the requests of a batch', () => {
  it('are written whole, one behind the other, each with its key and its length in bytes', () => {
    const { transmission, events } = transmit(['{}', '"ü"'])
    expect(transmission.write(8)).toBe('HEAD k0\r\ncontent-length: 2\r\n\r\n{}HEAD k1\r\ncontent-length: 4\r\n\r\n"ü"')
    expect(transmission.encoding).toBe('utf8')
    expect(transmission.awaiting).toBe(2)
    expect(events).toEqual([])
  })

  it('are latin1 where all is ASCII, part by part', () => {
    const { transmission, events } = transmit(['"ü"', '{}'])
    transmission.write(1)
    expect(transmission.encoding).toBe('utf8')
    expect(events).toEqual(['parted'])
    expect(transmission.write(1)).toContain('k1')
    expect(transmission.encoding).toBe('latin1')
    expect(events).toEqual(['parted'])
  })

  it('are no more than allowed, and no more than there are', () => {
    const { transmission } = transmit(['{}', '{}', '{}'])
    expect(transmission.write(2)).not.toContain('k2')
    expect(transmission.awaiting).toBe(2)
    expect(transmission.write(2)).toContain('k2')
    expect(transmission.awaiting).toBe(3)
  })

  it('are less than 256 KiB in one go, but for a record that is longer', () => {
    const large = 'x'.repeat(200_000)
    const { transmission } = transmit([large, 'y'.repeat(62_000), 'z'.repeat(3000), 'w'.repeat(300_000)])
    expect(transmission.write(8)!.length).toBeLessThan(262_144)
    expect(transmission.awaiting).toBe(2)
    transmission.write(8)
    expect(transmission.awaiting).toBe(3)
    transmission.write(8)
    expect(transmission.awaiting).toBe(4)
  })

  it('are none where no header can have the key', () => {
    const { transmission } = transmit(['{}'], { head: null })
    expect(transmission.write(1)).toBeUndefined()
    expect(transmission.awaiting).toBe(0)
  })
})

describe('the answers to a batch', () => {
  it('settle their records in order once they are believed; certain ones, and those before them, at once', () => {
    const { transmission, settled } = transmit(['a', 'b', 'c', 'd'])
    transmission.write(4)
    expect(transmission.nextKey).toBe('k0')
    transmission.take(success(), { certain: false })
    expect(settled).toEqual([])
    expect(transmission.nextKey).toBe('k1')
    transmission.take(success(), { certain: true })
    expect(settled).toEqual(['0 delivered', '1 delivered'])
    transmission.take(success(''), { certain: false })
    transmission.settleHeld()
    expect(settled).toEqual(['0 delivered', '1 delivered', '2 delivered'])
    expect({ finished: transmission.finished, awaiting: transmission.awaiting }).toEqual({
      finished: false,
      awaiting: 1,
    })
    transmission.take(success(), { certain: false })
    expect({ finished: transmission.finished, nextKey: transmission.nextKey }).toEqual({
      finished: true,
      nextKey: undefined,
    })
  })

  it('that differ are held until the last has come: one that was not expected could have moved them', () => {
    const { transmission, settled } = transmit(['a', 'b', 'c'])
    transmission.write(3)
    transmission.take(success(), { certain: false })
    transmission.take(answer(400, '{}'), { certain: false })
    transmission.settleHeld()
    expect(settled).toEqual([])
    transmission.take(success(), { certain: false })
    transmission.settleHeld()
    expect(settled).toEqual(['0 delivered', '1 rejected', '2 delivered'])
    transmission.settleHeld()
    expect(settled).toHaveLength(3)
  })

  it('that differ no longer hold up later ones once a certain answer has come', () => {
    const { transmission, settled } = transmit(['a', 'b', 'c', 'd'])
    transmission.write(4)
    transmission.take(answer(400, '{}'), { certain: false })
    transmission.take(success(), { certain: true })
    transmission.take(success(), { certain: false })
    transmission.settleHeld()
    expect(settled).toEqual(['0 rejected', '1 delivered', '2 delivered'])
  })

  it('that are in doubt count for none: their requests may have been carried out', () => {
    const { transmission, settled, outcomes } = transmit(['a', 'b', 'c'])
    transmission.write(3)
    transmission.take(success(), { certain: true })
    transmission.take(answer(400, '{}'), { certain: false })
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
    const { transmission, settled } = transmit(['a', 'b', 'c', 'd', 'e', 'f'])
    transmission.write(6)
    for (const each of [success('{"a":1}'), success('{"a":1}'), success(refused), success('{"a":1}')]) {
      transmission.take(each, { certain: true })
    }
    transmission.take(answer(503, '{"a":1}'), { certain: true })
    transmission.take(answer(300, ''), { certain: true })
    expect(settled).toEqual(['0 delivered', '1 delivered', '2 rejected', '3 delivered', '4 answered', '5 pause'])
  })

  it('do not repeat the key, and ask for a newer one after 401', () => {
    const said = transmit(['a'], { key: 'secret-key' })
    said.transmission.write(1)
    said.transmission.take(answer(400, '{"errors":[{"message":"secret-key is bad"}]}'), { certain: true })
    expect(JSON.stringify(said.outcomes)).toContain('is bad')
    expect(JSON.stringify(said.outcomes)).not.toContain('secret-key')
    const renewed = transmit(['a'], { key: 'old' })
    renewed.transmission.write(1)
    renewed.transmission.take(answer(401, ''), { certain: true })
    expect(renewed.settled).toEqual(['0 answered'])
    expect(renewed.renewed).toEqual(['old'])
  })
})

describe('a batch that breaks off', () => {
  it('keeps the answers that came; the rest is ambiguous where it was written, else unsent', () => {
    const { transmission, settled, outcomes, events } = transmit(['a', 'b', 'c', 'd'])
    transmission.write(3)
    transmission.take(answer(400, '{}'), { certain: false })
    transmission.breakOff({ reason: 'the connection broke' })
    expect(settled).toEqual(['0 rejected', '1 ambiguous', '2 ambiguous', '3 unsent'])
    expect(outcomes.slice(1).map((each) => 'reason' in each && each.reason)).toEqual(
      new Array(3).fill('the connection broke'),
    )
    expect(outcomes.some((each) => 'backPressure' in each && each.backPressure)).toBe(false)
    expect(events).toEqual(['parted', 'done'])
    expect(transmission.finished).toBe(true)
  })

  it('asks for less after a time-out, but not for what was never written', () => {
    const { transmission, outcomes } = transmit(['a', 'b'])
    transmission.write(1)
    transmission.breakOff({ reason: 'no answer', timedOut: true })
    expect(outcomes.map((each) => 'backPressure' in each && each.backPressure)).toEqual([true, false])
  })
})
