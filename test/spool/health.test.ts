import { describe, expect, it } from 'vitest'
import { Health } from '../../src/spool/health.js'
import { VirtualClock } from '../support/virtual-clock.js'

async function setUp() {
  const clock = new VirtualClock()
  await clock.advance(5000)
  const said: string[] = []
  return { clock, said, health: new Health({ dir: '/spool', clock, report: (text) => said.push(text) }) }
}

const full = new Error('full')
const failed = 'the spool in /spool cannot be written (full): records are in memory alone until it can'

describe('a disk that fails', () => {
  it('is tried again after a second, then after twice as long each time, up to 30 seconds', async () => {
    const { clock, said, health } = await setUp()
    expect(health.tries).toBe(true)
    for (const wait of [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]) {
      health.failed(full)
      await clock.advance(wait - 1)
      expect(health.tries).toBe(false)
      await clock.advance(1)
      expect(health.tries).toBe(true)
    }
    expect(said).toEqual([failed])
  })

  it('is tried again at once when that is asked for', async () => {
    const { health } = await setUp()
    health.failed(full)
    health.retry()
    expect(health.tries).toBe(true)
  })

  it('is said to work again, once, with the number of records since it failed', async () => {
    const { clock, said, health } = await setUp()
    health.succeeded()
    expect(said).toEqual([])
    health.failed(full)
    health.missed(2)
    health.missed(3)
    for (let time = 0; time < 2; time++) health.succeeded()
    const recovered = (count: number) =>
      `the spool in /spool can be written again; ${count} records were in memory alone`
    expect(said).toEqual([failed, recovered(5)])
    health.failed(full)
    await clock.advance(999)
    expect(health.tries).toBe(false)
    health.succeeded()
    expect(said.slice(2)).toEqual([failed, recovered(0)])
    expect(health.tries).toBe(true)
  })
})

describe('trouble with a spool', () => {
  it('is said once of each kind, with the first reason', async () => {
    const { said, health } = await setUp()
    for (const reason of ['first', 'second']) {
      health.trouble('read', new Error(reason))
      health.trouble('sign', new Error(reason))
    }
    expect(said).toEqual([
      'the spool in /spool: records cannot be read back: they stay on disk until they can (first)',
      'the spool in /spool: the lock cannot be renewed: a process on another machine may send the records, too (first)',
    ])
  })
})
