import { beforeEach, describe, expect, it } from 'vitest'
import { GroupCommit } from '../dist/storage/group-commit.js'

let log: string[]
/** Promises that the commits wait for, by group. */
let ends: Map<string, { resolve(): void; reject(error: Error): void }>
let commits: GroupCommit<string>
beforeEach(() => {
  log = []
  ends = new Map()
  commits = new GroupCommit(async (items) => {
    const group = items.join(' ')
    log.push(`commit ${group}`)
    await new Promise<void>((resolve, reject) => ends.set(group, { resolve, reject }))
  })
})

/** Adds the items and records their outcomes. */
function add(...items: string[]): Promise<void>[] {
  return items.map(async (item) => {
    await commits.add(item).then(
      () => log.push(`answer ${item}`),
      (error: Error) => log.push(`refuse ${item}: ${error.message}`),
    )
  })
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('a group commit', () => {
  it('commits a single record at the end of the turn, and all records of one turn together', async () => {
    const lone = add('a')
    await turn()
    expect(log).toEqual(['commit a'])
    ends.get('a')?.resolve()
    await Promise.all(lone)
    const group = add('b', 'c')
    await turn()
    ends.get('b c')?.resolve()
    await Promise.all(group)
    expect(log).toEqual(['commit a', 'answer a', 'commit b c', 'answer b', 'answer c'])
  })

  it('prepares the next commit while one runs, and gathers the items that arrive meanwhile', async () => {
    add('a')
    await turn()
    add('b')
    await turn()
    add('c')
    await turn()
    add('d')
    await turn()
    expect(log).toEqual(['commit a', 'commit b'])
    ends.get('a')?.resolve()
    await turn()
    // The store gets its next group before the answers are given.
    expect(log.slice(2)).toEqual(['commit c d', 'answer a'])
  })

  it('refuses the items whose commit has failed, and no others', async () => {
    const first = add('a', 'b')
    await turn()
    const second = add('c')
    await turn()
    ends.get('a b')?.reject(new Error('disk full'))
    ends.get('c')?.resolve()
    await Promise.all([...first, ...second])
    expect(log.slice(2)).toEqual(['refuse a: disk full', 'refuse b: disk full', 'answer c'])
  })

  it('is settled when no item waits, and at once if none did', async () => {
    await commits.settled()
    add('a')
    const settled = commits.settled().then(() => log.push('settled'))
    await turn()
    add('b')
    await turn()
    ends.get('a')?.resolve()
    await turn()
    expect(log).not.toContain('settled')
    ends.get('b')?.resolve()
    await settled
    expect(log.filter((line) => !line.startsWith('commit'))).toEqual(['answer a', 'answer b', 'settled'])
  })

  it('commits as many items at once as the largest size allows, and at least one', async () => {
    const groups: string[][] = []
    const sized = new GroupCommit<string>(
      async (items) => {
        groups.push([...items])
      },
      { maxItems: 3, sizeOf: (item) => item.length, maxSize: 4 },
    )
    await Promise.all(['aa', 'bb', 'c', 'ddddddd', 'e', 'f', 'g', 'h'].map((item) => sized.add(item)))
    expect(groups).toEqual([['aa', 'bb'], ['c'], ['ddddddd'], ['e', 'f', 'g'], ['h']])
  })
})
