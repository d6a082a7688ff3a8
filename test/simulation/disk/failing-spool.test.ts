import { describe, expect, it } from 'vitest'
import type { Severity } from '../../../src/records/level.js'
import { full } from '../../support/full.js'
import { World } from '../world.js'
import type { DiskOperation } from './disk-faults.js'
import { SimulatedDisk } from './simulated-disk.js'
import { SpoolLife, spoolDir } from './spool-life.js'

const operations: readonly DiskOperation[] = [
  'open',
  'close',
  'read',
  'write',
  'truncate',
  'stat',
  'list',
  'mkdir',
  'rmdir',
  'link',
  'rename',
  'unlink',
  'utimes',
]
const codes = ['EIO', 'ENOSPC', 'EDQUOT'] as const

/** The disk begins to fail in some way. */
function fail({ faults, usedBytes }: SimulatedDisk, random: () => number): void {
  const operation = operations[Math.floor(random() * (operations.length + 3))]
  const code = codes[Math.floor(random() * codes.length)]!
  const kind = random()
  if (operation !== undefined) faults.at.set(operation, { code, chance: kind < 0.5 ? 1 : 0.3 })
  else if (kind < 0.3) faults.capacityBytes = usedBytes + random() * 2000
  else if (kind < 0.6) faults.readOnly = true
  else faults.shortWrites = 0.5
}

/** Processes with a spool, one after another. The disk fails in several ways during each, and works again for a while before it dies. */
async function livesOf(seed: number, death: 'a kill' | 'a power loss'): Promise<World> {
  const world = new World(seed)
  const disk = new SimulatedDisk(world)
  const random = world.random('lives')
  const below = (end: number) => Math.floor(random() * end)
  /** Records of which the spool says that they are on disk. */
  const owed = new Set<string>()
  let names = 0

  for (let number = 1; number <= 4; number++) {
    if (random() < 0.3) fail(disk, random)
    const life = new SpoolLife({ world, disk, sync: death === 'a power loss', number })
    const { thread, spool, records } = life
    const act = () => {
      for (let count = below(8); count > 0; count--) life.keep(`r${names++}`, below(7) as Severity)
      for (const name of [...records.keys()]) {
        if (random() < 0.7) continue
        life.settle(name)
        owed.delete(name)
      }
    }
    for (let count = 0; count < 20; count++) thread.post(act, random() * 90_000)
    for (let count = below(4); count > 0; count--) world.schedule(() => fail(disk, random), random() * 80_000)
    await world.run(90_000)
    disk.faults.heal()
    // The longest wait of a disk that fails, and as many looks as it takes until a process of before a restart counts as dead.
    await world.run(100_000)
    const last = `r${names++}`
    life.keep(last, 4)
    spool.commit()
    if (!records.has(last)) world.fail(`process ${number} does not use a disk that works again`)
    for (const name of owed) if (!records.has(name)) world.fail(`process ${number} has not got ${name}`)
    for (const [name, place] of records) {
      if (spool.park(place)) owed.add(name)
      else owed.delete(name)
    }
    if (disk.list(spoolDir).some((name) => name.startsWith('.new-'))) world.fail(`process ${number} leaves a folder`)
    if (random() < 0.3) {
      spool.close()
      if (disk.openFiles > 0) world.fail(`process ${number} leaves ${disk.openFiles} files open`)
    }
    thread.kill()
    if (death === 'a power loss') disk.powerLoss()
  }
  return world
}

/** A process has died and has left a record. */
function setUpLeft() {
  const world = new World(1)
  const disk = new SimulatedDisk(world)
  const first = new SpoolLife({ world, disk, sync: false, number: 1 })
  first.keep('left', 2)
  first.spool.commit()
  first.thread.kill()
  return { world, disk, next: new SpoolLife({ world, disk, sync: false, number: 2 }) }
}

const always = { code: 'EIO', chance: 1 } as const

describe('a spool on a disk that fails for a while', () => {
  it.each(['a kill', 'a power loss'] as const)(
    'works when the disk works again, and loses nothing by %s that is on it',
    async (death) => {
      for (let seed = 1; seed <= (full ? 40 : 10); seed++) {
        const { failures } = await livesOf(seed, death)
        expect(failures, `seed ${seed}`).toEqual([])
      }
    },
  )

  it('reads the records of a dead process later, when it could not read them after it took them over', async () => {
    const { world, disk, next } = setUpLeft()
    const folder = `${spoolDir}/${disk.list(spoolDir)[0]}`
    await world.run(10_000, () => disk.list(folder).length === 0)
    disk.faults.at.set('read', always)
    await world.run(5000)
    expect(next.said).toEqual([expect.stringMatching(/cannot be taken over: they stay on disk \(EIO.* read/)])
    disk.faults.heal()
    await world.run(10_000)
    expect([...next.records.keys()]).toEqual(['left'])
  })

  it('takes over the records of a dead process later, when it could neither take them nor give back the lock', async () => {
    const { world, disk, next } = setUpLeft()
    next.keep('own', 2)
    next.spool.commit()
    for (const operation of ['rename', 'unlink'] as const) disk.faults.at.set(operation, always)
    await world.run(25_000)
    disk.faults.heal()
    await world.run(10_000)
    expect([...next.records.keys()]).toEqual(['own', 'left'])
  })

  it('removes the folders that it could not make', async () => {
    const { world, disk, next } = setUpLeft()
    for (const operation of ['rename', 'unlink'] as const) disk.faults.at.set(operation, always)
    next.keep('own', 2)
    await world.run(25_000)
    expect(disk.list(spoolDir).filter((name) => name.startsWith('.new-')).length).toBeGreaterThan(0)
    disk.faults.heal()
    await world.run(10_000)
    expect(disk.list(spoolDir).filter((name) => name.startsWith('.new-'))).toEqual([])
  })

  it('waits for the disk, too, for the records before the one that it could not write', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const world = new World(seed)
      const disk = new SimulatedDisk(world)
      const first = new SpoolLife({ world, disk, sync: true, number: 1 })
      for (let number = 0; number < 10; number++) first.keep(`r${number}`, 2)
      disk.faults.shortWrites = 1
      first.spool.commit()
      disk.faults.heal()
      const onDisk = [...first.records].filter(([, place]) => first.spool.park(place)).map(([name]) => name)
      first.thread.kill()
      disk.powerLoss()
      const second = new SpoolLife({ world, disk, sync: true, number: 2 })
      await world.run(100_000)
      expect([...second.records.keys()], `seed ${seed}`).toEqual(onDisk)
    }
  })
})
