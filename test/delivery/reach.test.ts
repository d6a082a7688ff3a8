import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { Reach } from '../../src/delivery/reach.js'
import type { Failure } from '../../src/delivery/rules.js'
import { sharedReach } from '../../src/runtime/shared-reach.js'

const failure = (exchange: 'unsent' | 'answered' | 'ambiguous', refused = false): Failure => ({
  ...{ type: 'retry', exchange, reason: 'r', backPressure: false },
  ...(refused && { refused }),
})

/** A reach on a clock that the test sets. */
function setUp() {
  const clock = { at: 0, now: () => clock.at }
  let told = 0
  const reach = new Reach({ clock, tell: () => told++ })
  return { clock, reach, told: () => told }
}

describe('a service at whose address nothing has ever listened', () => {
  it('is told once, and given up 300 ms after the first brief drain began', () => {
    const { clock, reach, told } = setUp()
    reach.failed(failure('unsent', true))
    expect([reach.isNowhere, reach.isGivenUp, told()]).toEqual([true, false, 1])
    reach.beginBrief()
    clock.at = 299
    expect(reach.isGivenUp).toBe(false)
    clock.at = 300
    reach.beginBrief()
    reach.failed(failure('unsent', true))
    expect([reach.isGivenUp, told()]).toEqual([true, 1])
  })

  it.each([
    ['an answer', (reach: Reach) => reach.failed(failure('answered'))],
    ['a request that left', (reach: Reach) => reach.failed(failure('ambiguous'))],
    ['a success', (reach: Reach) => reach.succeeded()],
  ])('is waited for as long as the drain allows after %s, also when it refuses again', (_, happens) => {
    const { clock, reach } = setUp()
    reach.failed(failure('unsent', true))
    reach.beginBrief()
    happens(reach)
    reach.failed(failure('unsent', true))
    clock.at = 10_000
    expect([reach.isNowhere, reach.isGivenUp]).toEqual([false, false])
  })

  it('is waited for, and not told, where another engine of the process has reached it', () => {
    const clock = { now: () => 10_000 }
    const service = sharedReach(`http://${randomUUID()}.example`)
    let told = 0
    const [other, reach] = [new Reach({ clock, service }), new Reach({ clock, service, tell: () => told++ })]
    other.succeeded()
    reach.failed(failure('unsent', true))
    expect([reach.isNowhere, told]).toEqual([false, 0])
    const elsewhere = new Reach({ clock, service: sharedReach(`http://${randomUUID()}.example`) })
    elsewhere.failed(failure('unsent', true))
    expect(elsewhere.isNowhere).toBe(true)
  })

  it('is waited for where another failure says that something may be there', () => {
    const { clock, reach, told } = setUp()
    reach.beginBrief()
    reach.failed(failure('unsent'))
    clock.at = 10_000
    expect([reach.isGivenUp, told()]).toEqual([false, 0])
  })
})
