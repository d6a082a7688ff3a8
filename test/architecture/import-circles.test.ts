import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { filesOf, importsOf, root } from './source-files.js'

type Graph = ReadonlyMap<string, readonly string[]>

/** The files that a file reaches through its imports. */
function reachedFrom(file: string, graph: Graph): Set<string> {
  const reached = new Set<string>()
  const left = [...(graph.get(file) ?? [])]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (reached.has(next)) continue
    reached.add(next)
    left.push(...(graph.get(next) ?? []))
  }
  return reached
}

/** The files that reach themselves through their imports. */
function circular(graph: Graph): string[] {
  return [...graph.keys()].filter((file) => reachedFrom(file, graph).has(file))
}

describe('imports', () => {
  it.each(['src', 'packages/receiver/src', 'packages/receiver/web'])('of %s make no circle, types included', (name) => {
    const folder = join(root, name)
    expect(circular(new Map(filesOf(folder).map((file) => [file, importsOf(file, folder)])))).toEqual([])
  })

  it('would be found in a circle', () => {
    const graph = new Map([
      ['a', ['b']],
      ['b', ['c']],
      ['c', ['b', 'd']],
      ['d', []],
    ])
    expect(circular(graph)).toEqual(['b', 'c'])
  })
})
