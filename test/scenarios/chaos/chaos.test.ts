import { afterAll, describe, expect, it } from 'vitest'
import { simulate } from '../../simulation/simulation.js'
import { full } from '../../support/full.js'
import { seeded } from '../../support/seeded.js'
import { killCosts, quantile } from './kill-costs.js'
import { runSchedule } from './run-schedule.js'
import { disturbances, scheduleOf, serverFaults } from './schedule.js'
import { simulated } from './simulated.js'

const { CHAOS_SCHEDULES, CHAOS_SEED, CHAOS_KILLS } = process.env
const firstSeed = Number(CHAOS_SEED ?? 1)
const count = Number(CHAOS_SCHEDULES ?? (full ? 40 : 0))
const seeds = Array.from({ length: count }, (_, index) => firstSeed + index)
/** So many seeds in a row include every fault and every disturbance. */
const wholeRow = Math.max(disturbances.length, Object.keys(serverFaults).length)

describe('whatever breaks, every record that was accepted is delivered, rejected, on disk or counted', () => {
  const fired = new Map<string, number>()
  const costsMs: number[] = []
  let lost = 0

  it.each(seeds)('seed %i', { timeout: 120_000 }, async (seed) => {
    const schedule = scheduleOf(seed)
    const report = await runSchedule(schedule)
    // The simulator, which runs far more schedules, must come to the same verdict.
    const { failures } = await simulate(simulated(schedule))
    expect({ schedule, violations: report.violations, simulated: failures }).toEqual({
      schedule,
      violations: [],
      simulated: [],
    })
    for (const name of report.fired) fired.set(name, (fired.get(name) ?? 0) + 1)
    costsMs.push(...report.killCostsMs)
    lost += report.lostByKills
  })

  it.runIf(seeds.length >= wholeRow)('has seen every fault and every disturbance', () => {
    const all = [...Object.keys(serverFaults), ...disturbances]
    expect(all.filter((name) => !fired.has(name))).toEqual([])
  })

  afterAll(() => print(`${seeds.length} schedules`, { costsMs, lost }))
})

describe('SIGKILL', () => {
  it('costs only what had not reached the worker', { timeout: 600_000 }, async () => {
    const kills = Number(CHAOS_KILLS ?? (full ? 40 : 1))
    const { violations, killCostsMs, lostByKills } = await killCosts(kills, seeded(firstSeed))
    expect(violations).toEqual([])
    print('an application that logs without a pause', { costsMs: killCostsMs, lost: lostByKills })
  })
})

function print(what: string, { costsMs, lost }: { costsMs: readonly number[]; lost: number }): void {
  const [p50, p99] = [0.5, 0.99].map((share) => quantile(costsMs, share).toFixed(1))
  const cost = `the last ${p50} ms of records (p50), ${p99} ms (p99), ${lost} records in all`
  process.stdout.write(`chaos: ${what}: ${costsMs.length} kills cost ${costsMs.length === 0 ? 'nothing' : cost}\n`)
}
