import { describe, expect, it } from 'vitest'
import { SharedBell } from '../../src/control/bell.js'
import { VirtualClock } from '../support/virtual-clock.js'

const words = () => new Int32Array(new SharedArrayBuffer(8))
const turn = () => new Promise(setImmediate)

describe('a bell in shared memory', () => {
  it('calls those who listen, until they stop', async () => {
    const memory = words()
    const bell = new SharedBell(memory, 1)
    let heard = 0
    const stop = bell.heard(() => heard++)
    await turn()
    expect(heard).toBe(0)
    new SharedBell(memory, 1).ring()
    await turn()
    expect(heard).toBe(1)
    bell.ring()
    bell.ring()
    await turn()
    expect(heard).toBeGreaterThanOrEqual(2)
    stop()
    const before = heard
    bell.ring()
    await turn()
    expect(heard).toBe(before)
  })

  it('calls nobody before their listening has begun, even when it rings in that moment', async () => {
    const bell = new SharedBell(words(), 1)
    const ringsMeanwhile = {
      now: () => 0,
      schedule: () => {
        bell.ring()
        return { cancel() {} }
      },
    }
    let heard = 0
    const stop = bell.heard(() => heard++, ringsMeanwhile)
    expect(heard).toBe(0)
    await turn()
    expect(heard).toBe(1)
    stop()
  })

  it('looks again every 10 s, in case a wake-up is lost', async () => {
    const clock = new VirtualClock()
    let heard = 0
    const stop = new SharedBell(words(), 0).heard(() => heard++, clock)
    await clock.advance(9_999)
    expect(heard).toBe(0)
    await clock.advance(1)
    expect(heard).toBe(1)
    await clock.advance(10_000)
    expect(heard).toBe(2)
    stop()
    await clock.advance(60_000)
    expect(heard).toBe(2)
  })

  it('holds a thread for a time at most', () => {
    const bell = new SharedBell(words(), 0)
    let asked = 0
    const started = performance.now()
    expect(bell.wait(() => ++asked > 100, 30)).toBe(false)
    expect(performance.now() - started).toBeGreaterThanOrEqual(29)
    expect(asked).toBe(2)
    expect(bell.wait(() => true, 0)).toBe(true)
  })
})
