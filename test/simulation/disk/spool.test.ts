import { describe, expect, it } from 'vitest'
import type { Severity } from '../../../src/records/level.js'
import { full } from '../../support/full.js'
import { World } from '../world.js'
import { SimulatedDisk } from './simulated-disk.js'
import { SpoolLife } from './spool-life.js'

type Death = 'a kill' | 'a power loss'

/** Processes with a spool, one after another, that die at random moments, also in the middle of an operation. */
async function livesOf(seed: number, death: Death): Promise<World> {
  const world = new World(seed)
  const disk = new SimulatedDisk(world)
  const random = world.random('lives')
  const below = (end: number) => Math.floor(random() * end)
  const sync = death === 'a power loss' || random() < 0.5
  /** Records that are on disk and not settled. */
  const owed = new Set<string>()
  /** Records that are acknowledged on disk. */
  const acknowledged = new Set<string>()
  let names = 0

  for (let number = 1; number <= 5; number++) {
    const isLast = number === 5
    const life = new SpoolLife({ world, disk, sync, number })
    const { thread, spool, records } = life
    const settled: string[] = []
    life.written = (each) => {
      for (const name of each) if (records.has(name)) owed.add(name)
    }
    life.lost = (count) => world.fail(`process ${number} lost ${count} records`)
    life.restored = (name) => {
      if (acknowledged.has(name)) world.fail(`${name} came back after it was acknowledged`)
    }
    const act = () => {
      for (let count = below(8); count > 0; count--) life.keep(`r${names++}`, below(7) as Severity)
      if (random() < 0.3) spool.commit()
      for (const name of [...records.keys()]) {
        if (random() < 0.7 || !owed.has(name)) continue
        life.settle(name)
        owed.delete(name)
        settled.push(name)
      }
      if (random() > 0.2) return
      spool.acknowledge()
      if (death === 'a kill' && thread.alive) for (const name of settled) acknowledged.add(name)
    }
    for (let count = 0; !isLast && count < 20; count++) thread.post(act, random() * 90_000)
    const die = () => {
      thread.kill()
      if (death === 'a power loss') disk.powerLoss()
    }
    if (!isLast && random() < 0.8) {
      const [operations, after, torn] = [1 + below(300), random() < 0.5, random() < 0.5]
      disk.killAt({ thread, operations, after, torn, kill: die })
    }
    await world.run(isLast ? 400_000 : 100_000)
    if (isLast) for (const name of owed) if (!records.has(name)) world.fail(`${name} is gone`)
    if (isLast || !thread.alive) continue
    if (random() < 0.3) spool.close()
    die()
  }
  return world
}

/** A process with acknowledged records has died, and the next one dies at its so many-th operation. Returns what the third one gets. */
async function adoptedAfter(operations: number) {
  const world = new World(1)
  const disk = new SimulatedDisk(world)
  const first = new SpoolLife({ world, disk, sync: false, number: 1 })
  for (const name of ['delivered', 'left']) first.keep(name, 2)
  first.spool.commit()
  first.settle('delivered')
  first.spool.acknowledge()
  first.thread.kill()
  const { thread } = new SpoolLife({ world, disk, sync: false, number: 2 })
  disk.killAt({ thread, operations, after: true, kill: () => thread.kill() })
  await world.run(30_000)
  const died = !thread.alive
  thread.kill()
  const third = new SpoolLife({ world, disk, sync: false, number: 3 })
  await world.run(30_000)
  return { died, names: [...third.records.keys()] }
}

describe('a spool', () => {
  it.each(['a kill', 'a power loss'] as const)('loses no record that was on disk before %s', async (death) => {
    for (let seed = 1; seed <= (full ? 50 : 10); seed++) {
      const { failures } = await livesOf(seed, death)
      expect(failures, `seed ${seed}`).toEqual([])
    }
  })

  it('that waits for the disk has its first record on disk, too, when its folder was just made', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const world = new World(seed)
      const disk = new SimulatedDisk(world)
      const first = new SpoolLife({ world, disk, sync: true, number: 1 })
      first.keep('first', 2)
      first.spool.commit()
      first.thread.kill()
      disk.powerLoss()
      const second = new SpoolLife({ world, disk, sync: true, number: 2 })
      await world.run(100_000)
      expect([...second.records.keys()], `seed ${seed}`).toEqual(['first'])
    }
  })

  it('is adopted with its acknowledgements, whichever operation an earlier adoption has died after', async () => {
    for (let operations = 1; ; operations++) {
      const { died, names } = await adoptedAfter(operations)
      expect(names, `after ${operations} operations`).toEqual(['left'])
      if (died) continue
      expect(operations).toBeGreaterThan(40)
      break
    }
  })
})
