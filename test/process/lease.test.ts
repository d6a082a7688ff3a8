import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { IdlePort } from '../../src/engine/idle.js'
import { health } from '../../src/metrics/health.js'
import { resolve } from '../../src/options/resolve.js'
import { configureOrOff } from '../../src/process/configure.js'
import { Lease, leaseFor } from '../../src/process/lease.js'
import { systemClock } from '../../src/runtime/clock.js'

const set = {
  SLUICE_URL: 'http://127.0.0.1:1',
  SLUICE_API_KEY: 'k',
  SLUICE_BUCKET: 'b',
  SLUICE_MODE: 'inline',
}

/** Timers of the clock that have not fired. */
let looks: { task: () => void; delayMs: number }[]
beforeEach(() => {
  for (const name of Object.keys(process.env)) if (name.startsWith('SLUICE_')) vi.stubEnv(name, undefined)
  looks = []
  const schedule = systemClock.schedule.bind(systemClock)
  vi.spyOn(systemClock, 'schedule').mockImplementation((task, delayMs, keepAlive) => {
    if (delayMs !== 1000 || keepAlive === true) return schedule(task, delayMs, keepAlive)
    looks.push({ task, delayMs })
    return { cancel: () => {} }
  })
})
afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

/** A second goes by. */
function tick(): void {
  for (const { task } of looks.splice(0)) task()
}
const isOff = (lease: { engine: unknown }) => lease.engine instanceof IdlePort
function setAll(): void {
  for (const [name, value] of Object.entries(set)) vi.stubEnv(name, value)
}

describe('a lease that is off for want of variables', () => {
  it('is on at the first call a second after they are set, and looks no more', async () => {
    const lease = leaseFor({}, 'values')
    expect(isOff(lease)).toBe(true)
    setAll()
    expect(isOff(lease)).toBe(true)
    tick()
    expect(isOff(lease)).toBe(false)
    expect(lease.options).toMatchObject({ url: 'http://127.0.0.1:1', valueBucket: 'b' })
    expect(lease.sources).toMatchObject({ url: 'SLUICE_URL' })
    expect(looks).toEqual([])
    await lease.release({ timeoutMs: 0 })
    expect(lease.released).toBe(true)
  })

  it('resolves the options again only where a variable has changed, and stays off while one is wrong', () => {
    const again = vi.fn(() => configureOrOff({}, 'values'))
    const lease = new Lease(configureOrOff({}, 'values'), again)
    for (let second = 0; second < 3; second++) {
      tick()
      expect(isOff(lease)).toBe(true)
    }
    expect(again).not.toHaveBeenCalled()
    setAll()
    vi.stubEnv('SLUICE_URL', 'shop')
    tick()
    expect(isOff(lease)).toBe(true)
    expect(again).toHaveBeenCalledTimes(1)
    expect(looks).toHaveLength(1)
  })

  it('is failing in the health of the process while a variable is wrong, and no longer once it is right', async () => {
    setAll()
    vi.stubEnv('SLUICE_URL', 'shop')
    const lease = leaseFor({}, 'values')
    expect(isOff(lease)).toBe(true)
    expect(health()).toMatchObject({
      status: 'failing',
      reason: expect.stringMatching(/^no records are sent: SLUICE_URL \(option url\): expected /),
    })
    setAll()
    tick()
    expect(isOff(lease)).toBe(false)
    expect(health().status).toBe('ok')
    await lease.release({ timeoutMs: 0 })
  })

  it('never fails a call for a configuration that came later', () => {
    const lease = new Lease(configureOrOff({}, 'values'), () => {
      throw new Error('odd')
    })
    setAll()
    tick()
    expect(isOff(lease)).toBe(true)
    expect(looks).toHaveLength(1)
  })

  it('looks no more once it is released', async () => {
    const lease = leaseFor({}, 'values')
    tick()
    await lease.release()
    setAll()
    expect(isOff(lease)).toBe(true)
    tick()
    expect(isOff(lease)).toBe(true)
    expect(looks).toEqual([])
  })

  it('is not made where Sluice was turned off: later variables change nothing', () => {
    const resolution = resolve({ disabled: true }, { environment: {}, needs: 'values' })
    const again = vi.fn(() => resolution)
    const lease = new Lease(resolution, again)
    setAll()
    tick()
    expect(isOff(lease)).toBe(true)
    expect([again.mock.calls, looks]).toEqual([[], []])
  })
})
