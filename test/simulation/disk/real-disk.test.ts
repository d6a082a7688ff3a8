import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Files, nodeFiles } from '../../../src/runtime/files.js'
import { seeded } from '../../support/seeded.js'
import { World } from '../world.js'
import { SimulatedDisk } from './simulated-disk.js'

const root = mkdtempSync(join(tmpdir(), 'sluice-real-disk-'))
afterAll(() => rmSync(root, { recursive: true }))

/** One of a few paths, so that they often meet. */
const names = ['a', 'b', 'c', 'a/a', 'a/b', 'b/a', 'b/c', 'a/b/c', 'c/a/b', 'none/a']
const flags = ['r', 'r+', 'w', 'wx', 'a', 'ax', 0x20_900]

/** A random operation. It returns whatever a program can see of its result. */
function randomOperation(random: () => number) {
  const pick = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)]!
  const [one, two, file, size, flag] = [pick(names), pick(names), random(), random(), pick(flags)]
  const operations: ((world: OneSide) => unknown)[] = [
    ({ files, open, at }) => open.push(files.openSync(at(one), flag, 0o600)),
    ({ files, open, at }) => open.push(files.openSync(at(two), flag, 0o666)),
    ({ files, take }) => files.closeSync(take(file)),
    ({ files, of }) => files.writeSync(of(file), Buffer.alloc(Math.floor(size * 9), one), 0),
    ({ files, of }) => files.writeSync(of(file), Buffer.alloc(9, two), Math.floor(size * 9)),
    ({ files, of }) => {
      const bytes = Buffer.alloc(20)
      return [files.readSync(of(file), bytes, 0, 20, size < 0.5 ? null : Math.floor(size * 20)), bytes.toString()]
    },
    ({ files, of }) => files.ftruncateSync(of(file), Math.floor(size * 20)),
    ({ files, of }) => (size < 0.5 ? files.fsyncSync(of(file)) : files.fdatasyncSync(of(file))),
    ({ files, of }) => factsOf(files.fstatSync(of(file))),
    ({ files, at }) => factsOf(files.lstatSync(at(one), { throwIfNoEntry: false })),
    ({ files, at }) => factsOf(files.statSync(at(two))),
    ({ files, at }) => files.existsSync(at(one)),
    ({ files, at }) => files.readdirSync(at(one)).sort(),
    ({ files, at }) => files.mkdirSync(at(one), { mode: 0o700 }),
    ({ files, at }) => files.mkdirSync(at(two), { mode: 0o777 }),
    ({ files, at }) => files.rmdirSync(at(one)),
    ({ files, at }) => files.linkSync(at(one), at(two)),
    ({ files, at }) => files.renameSync(at(one), at(two)),
    ({ files, at }) => files.renameSync(at(two), at(one)),
    ({ files, at }) => files.unlinkSync(at(one)),
    ({ files, at }) => {
      files.utimesSync(at(one), new Date(1e12), new Date(1e12 + 1000 * Math.floor(size * 1000)))
      return files.statSync(at(one)).mtimeMs
    },
  ]
  return pick(operations)
}

function factsOf(facts: ReturnType<Files['lstatSync']> | undefined) {
  if (facts === undefined) return undefined
  const { uid, gid, mode, size } = facts
  const isFile = facts.isFile()
  return {
    uid,
    gid,
    mode,
    isFile,
    isFolder: facts.isDirectory(),
    size: isFile ? size : 0,
    other: facts.isSymbolicLink(),
  }
}

/** A folder of one of the disks, with the descriptors that are open in it. */
class OneSide {
  readonly files: Files
  readonly open: number[] = []
  readonly #folder: string

  constructor(files: Files, folder: string) {
    this.files = files
    this.#folder = folder
  }

  readonly at = (name: string) => `${this.#folder}/${name}`
  /** A descriptor that was open at some time. */
  readonly of = (chance: number) => this.open[Math.floor(chance * this.open.length)] ?? 9999
  /** It stays in the list, so that later operations use a descriptor that is closed; the number is not used again. */
  readonly take = (chance: number) => {
    const index = Math.floor(chance * this.open.length)
    const number = this.open[index] ?? 9999
    if (index < this.open.length) this.open[index] = 9999
    return number
  }

  /** The result, or the code of the error. */
  result(operation: (side: OneSide) => unknown): unknown {
    try {
      const result = operation(this)
      return result === undefined ? 'done' : result
    } catch (error) {
      return (error as NodeJS.ErrnoException).code ?? error
    }
  }

  end(): void {
    for (const file of this.open) this.result(({ files }) => files.closeSync(file))
  }
}

describe('the simulated disk', () => {
  let before = 0
  beforeAll(() => {
    before = process.umask(0o022)
  })
  afterAll(() => void process.umask(before))

  it('answers every operation as the real file system does, with the same results and error codes', () => {
    const codes = new Set<unknown>()
    for (let seed = 0; seed < 100; seed++) {
      const random = seeded(seed)
      const world = new World(seed)
      const simulated = new OneSide(new SimulatedDisk(world).filesOf(world.thread('one')), '/root')
      simulated.files.mkdirSync('/root', { mode: 0o700 })
      const real = new OneSide(nodeFiles, join(root, String(seed)))
      real.files.mkdirSync(join(root, String(seed)), { mode: 0o700 })
      for (let step = 0; step < 200; step++) {
        const operation = randomOperation(random)
        const expected = real.result(operation)
        expect(simulated.result(operation), `seed ${seed}, step ${step}: ${operation}`).toEqual(expected)
        codes.add(expected)
      }
      real.end()
    }
    for (const code of ['EEXIST', 'EISDIR', 'EINVAL', 'ENOENT', 'ENOTDIR', 'ENOTEMPTY', 'EPERM', 'EBADF']) {
      expect(codes).toContain(code)
    }
  })
})
