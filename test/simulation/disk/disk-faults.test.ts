import { describe, expect, it } from 'vitest'
import { World } from '../world.js'
import { SimulatedDisk } from './simulated-disk.js'

function setUp(seed = 1) {
  const world = new World(seed)
  const reached: string[] = []
  const disk = new SimulatedDisk(world, { reached: (name) => reached.push(name) })
  const thread = world.thread('writer')
  const files = disk.filesOf(thread)
  const file = files.openSync('/file', 'a', 0o600)
  const write = (text: string) => files.writeSync(file, Buffer.from(text), 0)
  return { world, disk, thread, files, file, write, reached }
}

describe('a fault of the disk', () => {
  it('fails the operation that it names, with its code and chance, until it is healed', () => {
    const { disk, files, write, reached } = setUp()
    disk.faults.at.set('write', { code: 'EDQUOT', chance: 0.5 })
    const results = Array.from({ length: 100 }, () => {
      try {
        return write('x')
      } catch (error) {
        return (error as NodeJS.ErrnoException).code
      }
    })
    const failed = results.filter((each) => each === 'EDQUOT').length
    expect(failed).toBeGreaterThan(30)
    expect(results.filter((each) => each === 1)).toHaveLength(100 - failed)
    expect(disk.read('/file')).toHaveLength(100 - failed)
    expect(disk.happened).toEqual(new Map([['disk: EDQUOT at write', failed]]))
    expect(reached).toHaveLength(failed)
    expect(files.existsSync('/file')).toBe(true)
    disk.faults.heal()
    for (let count = 0; count < 20; count++) expect(write('x')).toBe(1)
  })

  it('closes a file all the same when it fails to close it', () => {
    const { disk, files, file } = setUp()
    disk.faults.at.set('close', { code: 'EIO', chance: 1 })
    expect(() => files.closeSync(file)).toThrow('EIO')
    expect(disk.openFiles).toBe(0)
  })

  it('lets a write take a part of its bytes, and the next one none', () => {
    const { disk, write } = setUp()
    disk.faults.shortWrites = 1
    const taken = write('0123456789')
    expect(taken).toBeGreaterThan(0)
    expect(taken).toBeLessThan(10)
    expect(() => write('rest')).toThrow('ENOSPC')
    expect(disk.read('/file')).toHaveLength(taken)
  })

  it('fills the disk, until files go or there is more room', () => {
    const { disk, files, write } = setUp()
    write('0123')
    disk.faults.capacityBytes = 10
    const other = files.openSync('/other', 'ax', 0o600)
    expect(files.writeSync(other, Buffer.from('0123456789'), 0)).toBe(6)
    expect(() => files.writeSync(other, Buffer.from('x'), 0)).toThrow('ENOSPC')
    files.unlinkSync('/other')
    expect(() => write('x')).toThrow('ENOSPC')
    files.closeSync(other)
    expect(write('x')).toBe(1)
    disk.faults.heal()
    expect(write('0123456789')).toBe(10)
  })

  it('makes the disk read-only', () => {
    const { disk, files, file, write } = setUp()
    write('text')
    disk.faults.readOnly = true
    for (const change of [
      () => write('x'),
      () => files.fsyncSync(file),
      () => files.ftruncateSync(file, 0),
      () => files.unlinkSync('/file'),
      () => files.renameSync('/file', '/other'),
      () => files.linkSync('/file', '/other'),
      () => files.mkdirSync('/folder', { mode: 0o700 }),
      () => files.openSync('/other', 'ax', 0o600),
      () => files.utimesSync('/file', new Date(0), new Date(0)),
    ])
      expect(change).toThrow('EROFS')
    const open = files.openSync('/file', 'r')
    expect(files.readSync(open, Buffer.alloc(9), 0, 9, null)).toBe(4)
  })

  it('slows the disk: each operation blocks its thread', async () => {
    const { world, disk, thread, write } = setUp()
    disk.faults.slowMs = 50
    let timer = -1
    thread.clock.schedule(() => {
      timer = world.now
    }, 10)
    thread.post(() => {
      write('one')
      write('two')
    })
    await world.run(1000)
    expect(timer).toBeCloseTo(100, 1)
  })

  it('hangs the disk: the thread goes on when that ends, and has the time of then', async () => {
    const { world, disk, thread, write, reached } = setUp()
    disk.faults.hungUntilMs = 5000
    const times: number[] = []
    thread.post(() => {
      write('one')
      times.push(thread.clock.now())
      write('two')
      times.push(thread.clock.now())
    }, 1000)
    thread.clock.schedule(() => times.push(world.now), 2000)
    await world.run(10_000)
    expect(times.map(Math.floor)).toEqual([5000, 5000, 5000])
    expect(reached).toEqual(['disk: hung'])
  })

  it('happens at the same operations in each run of a seed', () => {
    const run = (seed: number) => {
      const { world, disk, write } = setUp(seed)
      disk.faults.at.set('write', { code: 'EIO', chance: 0.3 })
      for (let count = 0; count < 50; count++) {
        try {
          world.note(`${write('text')}`)
        } catch {}
      }
      disk.powerLoss()
      world.note(`${disk.read('/file')?.length}`)
      return world.traceHash
    }
    expect(run(1)).toBe(run(1))
    expect(run(1)).not.toBe(run(2))
  })
})

describe('the owners of locks', () => {
  it('are alive until their thread dies, and unknown after a restart of the machine and in other containers', () => {
    const world = new World(1)
    const disk = new SimulatedDisk(world)
    const [one, two, three] = ['one', 'two', 'three'].map((name) => world.thread(name))
    const first = disk.ownersOf(one!, { pid: 10, started: 1 })
    const second = disk.ownersOf(two!, { pid: 10, started: 2 })
    const elsewhere = disk.ownersOf(three!, { pid: 10, started: 3, namespace: 'pid:[2]' })
    const stored = JSON.parse(JSON.stringify(first.current()))
    expect([second, elsewhere].map((each) => each.stateOf(stored))).toEqual(['alive', 'unknown'])
    expect(second.isInUse(10)).toBe(true)
    one!.freeze()
    expect(second.stateOf(stored)).toBe('alive')
    one!.kill()
    expect(second.stateOf(stored)).toBe('dead')
    expect(second.stateOf({ ...stored, thread: 99 })).toBe('dead')
    disk.powerLoss()
    expect(disk.ownersOf(world.thread('four'), { pid: 10, started: 4 }).stateOf(stored)).toBe('unknown')
  })
})
