import { describe, expect, it } from 'vitest'
import type { Files } from '../../../src/runtime/files.js'
import { World } from '../world.js'
import { SimulatedDisk } from './simulated-disk.js'

const seeds = Array.from({ length: 200 }, (_, seed) => seed + 1)

/** A disk with the folder `/d`, which is on it for sure. */
function setUp(seed: number) {
  const world = new World(seed)
  const disk = new SimulatedDisk(world)
  const thread = world.thread('writer')
  const files = disk.filesOf(thread)
  files.mkdirSync('/d', { mode: 0o700 })
  sync(files, '/')
  return { world, disk, thread, files }
}

function write(files: Files, path: string, { text, synced = false }: { text: string; synced?: boolean }): void {
  const file = files.openSync(path, 'a', 0o600)
  files.writeSync(file, Buffer.from(text), 0)
  if (synced) files.fsyncSync(file)
  files.closeSync(file)
}

function sync(files: Files, path: string): void {
  const folder = files.openSync(path, 'r')
  files.fsyncSync(folder)
  files.closeSync(folder)
}

/** The content of `/d/file`, or its names, after a power loss: each that some seed gives. */
function outcomes(prepare: (files: Files) => void, read = (disk: SimulatedDisk) => String(disk.read('/d/file'))) {
  const found = seeds.map((seed) => {
    const { disk, files } = setUp(seed)
    prepare(files)
    disk.powerLoss()
    return read(disk)
  })
  return [...new Set(found)].sort()
}

const namesIn = (disk: SimulatedDisk) => disk.list('/d').sort().join()

describe('a power loss', () => {
  it('keeps a synced file whose folder is synced, and takes its later writes, torn at any byte or as zeros', () => {
    const contents = outcomes((files) => {
      write(files, '/d/file', { text: 'old', synced: true })
      sync(files, '/d')
      write(files, '/d/file', { text: 'ab' })
      write(files, '/d/file', { text: 'c' })
    })
    const [both, first, torn] = ['oldabc', 'oldab', 'olda']
    const holes = ['old\0', 'old\0\0', 'old\0\0\0', 'old\0\0c', 'olda\0', 'olda\0\0', 'oldab\0']
    expect(contents).toEqual(expect.arrayContaining(['old', both, first, torn, 'old\0\0c']))
    expect(['old', both, first, torn, ...holes]).toEqual(expect.arrayContaining(contents))
  })

  it('may take a file that is synced when its folder is not', () => {
    const contents = outcomes((files) => write(files, '/d/file', { text: 'text', synced: true }))
    expect(contents).toEqual(['text', 'undefined'])
  })

  it('may leave the name of a file without its content', () => {
    const contents = outcomes((files) => {
      write(files, '/d/file', { text: 'text' })
      sync(files, '/d')
    })
    expect(contents).toEqual(expect.arrayContaining(['', 'text', 'te', '\0\0\0\0']))
  })

  it('takes no part of a rename, so that a file has its old name or its new one', () => {
    const prepare = (files: Files) => {
      write(files, '/d/one', { text: 'text', synced: true })
      sync(files, '/d')
      files.renameSync('/d/one', '/d/two')
    }
    expect(outcomes(prepare, namesIn)).toEqual(['one', 'two'])
  })

  it('may reorder changes of a folder, and undoes a removal', () => {
    const prepare = (files: Files) => {
      write(files, '/d/old', { text: 'text', synced: true })
      sync(files, '/d')
      files.unlinkSync('/d/old')
      write(files, '/d/new', { text: 'text' })
    }
    expect(outcomes(prepare, namesIn)).toEqual(['', 'new', 'new,old', 'old'])
  })

  it('takes all that was in a folder whose name was not synced', () => {
    const prepare = (files: Files) => {
      files.mkdirSync('/d/inner', { mode: 0o700 })
      write(files, '/d/inner/file', { text: 'text', synced: true })
      sync(files, '/d/inner')
    }
    expect(outcomes(prepare, (disk) => disk.filesIn('/d').join())).toEqual(['', '/d/inner/file'])
  })

  it('never removes a folder before whatever was moved out of it has arrived', () => {
    const prepare = (files: Files) => {
      files.mkdirSync('/d/from', { mode: 0o700 })
      files.mkdirSync('/d/to', { mode: 0o700 })
      write(files, '/d/from/file', { text: 'text', synced: true })
      for (const path of ['/d/from', '/d']) sync(files, path)
      files.renameSync('/d/from/file', '/d/to/file')
      files.rmdirSync('/d/from')
    }
    const found = outcomes(prepare, (disk) => disk.filesIn('/d').join())
    expect(found).toEqual(['/d/from/file', '/d/to/file'])
  })

  it('keeps whatever a sync of a folder needs, such as a file that was moved into it twice', () => {
    const prepare = (files: Files) => {
      for (const name of ['a', 'b', 'c']) files.mkdirSync(`/d/${name}`, { mode: 0o700 })
      sync(files, '/d')
      write(files, '/d/a/file', { text: 'text', synced: true })
      files.renameSync('/d/a/file', '/d/b/file')
      files.renameSync('/d/b/file', '/d/c/file')
      sync(files, '/d/c')
    }
    expect(outcomes(prepare, (disk) => disk.filesIn('/d').join())).toEqual(['/d/c/file'])
  })

  it('takes a write that a failed sync has forgotten, even if a later sync succeeds', () => {
    const found = seeds.map((seed) => {
      const { disk, files } = setUp(seed)
      const file = files.openSync('/d/file', 'ax', 0o600)
      sync(files, '/d')
      files.writeSync(file, Buffer.from('text'), 0)
      disk.faults.at.set('fsync', { code: 'EIO', chance: 1 })
      expect(() => files.fdatasyncSync(file)).toThrow('EIO')
      disk.faults.heal()
      files.fdatasyncSync(file)
      expect(String(disk.read('/d/file'))).toBe('text')
      disk.powerLoss()
      return String(disk.read('/d/file'))
    })
    expect([...new Set(found)].sort()).toEqual(['', 'text'])
  })

  it('counts bytes and open files again', () => {
    const { disk, files } = setUp(1)
    write(files, '/d/file', { text: 'text', synced: true })
    sync(files, '/d')
    files.openSync('/d/file', 'r')
    files.unlinkSync('/d/file')
    write(files, '/d/other', { text: 'more' })
    disk.powerLoss()
    const bytes = disk.filesIn('/').reduce((sum, path) => sum + disk.read(path)!.length, 0)
    expect(disk).toMatchObject({ usedBytes: bytes, openFiles: 0 })
  })
})

describe('the death of a process', () => {
  it('takes nothing that was written', () => {
    const { disk, thread, files } = setUp(1)
    write(files, '/d/file', { text: 'text' })
    thread.kill()
    expect(String(disk.read('/d/file'))).toBe('text')
  })

  it('closes its files, and no operation of it has an effect any more', () => {
    const { disk, thread, files } = setUp(1)
    files.openSync('/d/file', 'a')
    expect(disk.openFiles).toBe(1)
    thread.kill()
    expect(disk.openFiles).toBe(0)
    const { operations } = disk
    expect(() => files.mkdirSync('/d/later', { mode: 0o700 })).toThrow('EIO')
    expect(files.existsSync('/d/file')).toBe(false)
    expect(disk.list('/d')).toEqual(['file'])
    expect(disk.operations).toBe(operations)
  })

  it.each([
    ['before its effect', { after: false }, ['undefined']],
    ['after its effect', { after: true }, ['text']],
    ['in the middle of it', { after: false, torn: true }, ['', 't', 'te', 'tex']],
  ] as const)('comes at a planned operation, %s', (_, plan, contents) => {
    const found = seeds.map((seed) => {
      const { disk, thread, files } = setUp(seed)
      disk.killAt({ thread, operations: 2, ...plan, kill: () => thread.kill() })
      expect(() => write(files, '/d/file', { text: 'text' })).toThrow('EIO')
      expect(thread.alive).toBe(false)
      return String(disk.read('/d/file'))
    })
    expect([...new Set(found)].sort()).toEqual(plan.after || 'torn' in plan ? contents : [''])
  })
})
