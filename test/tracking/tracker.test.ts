import { createSluice, type Sluice } from 'sluice'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Tracked, trackedBy } from '../../src/tracking/tracker.js'
import { startTestReceiver, type TestReceiver } from '../support/receiver.js'

let recorded: number[]
beforeEach(() => {
  recorded = []
})
const tracked = <Run extends Tracked>(eventId: number, run: Run) =>
  trackedBy((event) => recorded.push(event), { eventId, run })

describe('a tracked function', () => {
  it('records its event when it returns, and passes everything on', () => {
    const counter = {
      start: 10,
      add: tracked(1, function (this: { start: number }, a: number, b: number) {
        return this.start + a + b
      }),
    }
    expect(counter.add(1, 2)).toBe(13)
    expect(recorded).toEqual([1])
  })

  it('records nothing when it throws, and throws the same', () => {
    const error = new Error('no')
    const fail = tracked(1, () => {
      throw error
    })
    expect(fail).toThrow(error)
    expect(recorded).toEqual([])
  })

  it('records when its promise resolves, not before, and returns that promise', async () => {
    let resolve = (_value: string) => {}
    const promise = new Promise<string>((done) => {
      resolve = done
    })
    const run = tracked(2, () => promise)
    expect(run()).toBe(promise)
    await Promise.resolve()
    expect(recorded).toEqual([])
    resolve('done')
    expect(await promise).toBe('done')
    expect(recorded).toEqual([2])
  })

  it('records nothing when its promise rejects, and leaves the rejection to the caller', async () => {
    const run = tracked(3, async () => {
      throw new Error('later')
    })
    await expect(run()).rejects.toThrow('later')
    expect(recorded).toEqual([])
  })

  it('has the name and length of the function', () => {
    async function checkout(_cart: string, _coupon: number) {}
    const run = tracked(4, checkout)
    expect([run.name, run.length]).toEqual(['checkout', 2])
    // @ts-expect-error the arguments are those of the function
    void run(7)
  })

  it('has the properties of the function, as its type says', () => {
    const run = tracked(
      5,
      Object.assign((cart: string) => cart, { retries: 3 }),
    )
    expect([run('full'), run.retries, Object.keys(run)]).toEqual(['full', 3, ['retries']])
  })

  it('is refused if it is not a function', () => {
    expect(() => tracked(1, 'checkout' as never)).toThrow(new TypeError('tracked: expected a function, got string'))
  })
})

describe('tracked of an instance', () => {
  let receiver: TestReceiver
  let sluice: Sluice
  beforeEach(async () => {
    receiver = await startTestReceiver()
    sluice = createSluice(receiver.options)
  })
  afterEach(() => receiver.close())

  it('delivers its events', async () => {
    const run = sluice.tracked(7, async (value: number) => value * 2)
    expect(await run(4)).toBe(8)
    await sluice.close()
    expect((await receiver.values()).map(({ eventId }) => eventId)).toEqual([7])
  })
})
