import { describe, expect, it } from 'vitest'
import type { Severity } from '../../src/records/level.js'
import type { DiskOperation } from '../simulation/disk/disk-faults.js'
import { SimulatedDisk } from '../simulation/disk/simulated-disk.js'
import { World } from '../simulation/world.js'
import { full } from '../support/full.js'
import { SpoolLife, spoolDir } from '../support/spool-life.js'

type Death = 'a kill' | 'a power loss'

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
const always = { code: 'EIO', chance: 1 } as const

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

/** Processes with a spool, one after another, that die at random moments, also in the middle of an operation. */
async function killed(seed: number, death: Death): Promise<World> {
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
    const noteWritten = () => {
      for (const name of thread.alive ? life.onDisk() : []) owed.add(name)
    }
    life.restored = (name) => {
      if (acknowledged.has(name)) world.fail(`${name} came back after it was acknowledged`)
    }
    const act = () => {
      for (let count = below(8); count > 0; count--) life.keep(`r${names++}`, below(7) as Severity)
      if (random() < 0.7) spool.commit()
      noteWritten()
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
    if (thread.alive && life.lost > 0) world.fail(`process ${number} lost ${life.lost} records`)
    if (isLast || !thread.alive) continue
    if (random() < 0.3) spool.close()
    die()
  }
  return world
}

/** The same, and the disk fails in several ways during each, and works again for a while before it dies. */
async function failing(seed: number, death: Death): Promise<World> {
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
      spool.commit()
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
    life.keep(`r${names++}`, 4)
    spool.commit()
    const written = life.onDisk()
    for (const name of records.keys()) {
      if (!written.includes(name)) world.fail(`process ${number} does not use a disk that works again for ${name}`)
    }
    for (const name of owed) if (!records.has(name)) world.fail(`process ${number} has not got ${name}`)
    if (life.lost > 0) world.fail(`process ${number} lost ${life.lost} records`)
    for (const name of written) owed.add(name)
    if (random() < 0.3) {
      spool.close()
      if (disk.openFiles > 0) world.fail(`process ${number} leaves ${disk.openFiles} files open`)
    }
    thread.kill()
    if (death === 'a power loss') disk.powerLoss()
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
  const second = new SpoolLife({ world, disk, sync: false, number: 2 })
  second.restored = (name) => second.settle(name)
  disk.killAt({ thread: second.thread, operations, after: true, kill: () => second.thread.kill() })
  await world.run(30_000)
  const died = !second.thread.alive
  second.thread.kill()
  const third = new SpoolLife({ world, disk, sync: false, number: 3 })
  await world.run(30_000)
  return { died, names: [...third.records.keys()], disk }
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

const deaths = ['a kill', 'a power loss'] as const

describe('a spool', { timeout: 120_000 }, () => {
  it.each(deaths)('loses no record that was on disk before %s', async (death) => {
    for (let seed = 1; seed <= (full ? 100 : 15); seed++) {
      const { failures } = await killed(seed, death)
      expect(failures, `seed ${seed}`).toEqual([])
    }
  })

  it.each(deaths)(
    'on a disk that fails for a while has all records there when it works again, and loses none by %s',
    async (death) => {
      for (let seed = 1; seed <= (full ? 100 : 15); seed++) {
        const { failures } = await failing(seed, death)
        expect(failures, `seed ${seed}`).toEqual([])
      }
    },
  )

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

  it('waits for the disk, too, for the records before the one that it could not write', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const world = new World(seed)
      const disk = new SimulatedDisk(world)
      const first = new SpoolLife({ world, disk, sync: true, number: 1 })
      for (let number = 0; number < 10; number++) first.keep(`r${number}`, 2)
      disk.faults.shortWrites = 1
      first.spool.commit()
      disk.faults.heal()
      const onDisk = first.onDisk()
      first.thread.kill()
      disk.powerLoss()
      const second = new SpoolLife({ world, disk, sync: true, number: 2 })
      await world.run(100_000)
      expect([...second.records.keys()], `seed ${seed}`).toEqual(onDisk)
    }
  })

  it('is adopted with its acknowledgements, whichever operation an earlier adoption has died after', async () => {
    const given = new Set<string>()
    for (let operations = 1; ; operations++) {
      const { died, names, disk } = await adoptedAfter(operations)
      expect(names, `after ${operations} operations`).not.toContain('delivered')
      given.add(names.join())
      if (died) continue
      // All was settled, and nothing is left of the folder.
      expect([names, disk.list(spoolDir)]).toEqual([[], []])
      expect(operations).toBeGreaterThan(25)
      break
    }
    // An engine that dies before it has acknowledged the record leaves it to the next one.
    expect([...given].sort()).toEqual(['', 'left'])
  })

  it('reads what a dead process has left later, when it cannot read it after it took the folder', async () => {
    const { world, disk, next } = setUpLeft()
    const folder = `${spoolDir}/${disk.list(spoolDir)[0]}`
    await world.run(10_000, () => disk.list(folder).includes('lock-2'))
    disk.faults.at.set('read', always)
    await world.run(5000)
    expect(next.said).toEqual([expect.stringMatching(/cannot be taken over: they stay on disk \(EIO.* read/)])
    disk.faults.heal()
    await world.run(10_000)
    expect([...next.records.keys()]).toEqual(['left'])
  })

  it('removes the folders that it could not make', async () => {
    const { world, disk, next } = setUpLeft()
    for (const operation of ['link', 'unlink', 'rmdir'] as const) disk.faults.at.set(operation, always)
    disk.faults.at.set('write', always)
    next.keep('own', 2)
    next.spool.commit()
    await world.run(1500)
    expect(disk.list(spoolDir)).toHaveLength(2)
    disk.faults.heal()
    await world.run(40_000)
    expect([...next.records.keys()].sort()).toEqual(['left', 'own'])
    expect(next.onDisk().sort()).toEqual(['left', 'own'])
    // The folder of the dead process, and the one that could be made.
    expect(disk.list(spoolDir)).toHaveLength(2)
  })
})
