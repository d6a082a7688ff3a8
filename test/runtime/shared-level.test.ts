import { beforeEach, describe, expect, it } from 'vitest'
import { LevelOverride } from '../../src/runtime/level-override.js'
import { maxLevelBytes, SharedLevel } from '../../src/runtime/shared-level.js'

let now: number
let shared: SharedLevel
let override: LevelOverride
beforeEach(() => {
  now = 1000
  shared = new SharedLevel()
  override = new LevelOverride(shared, () => now)
})

function set(level: string | undefined, forMs = Number.POSITIVE_INFINITY, memory = shared): void {
  memory.set(level, { now, forMs })
}

describe('the level in place of the option', () => {
  it('is none before the first change', () => {
    expect(override.level).toBeUndefined()
    expect(shared.change).toBeUndefined()
  })

  it('holds for its time, and not a moment longer', () => {
    set('debug', 600)
    now += 599
    expect(override.level).toBe('debug')
    now += 1
    expect(override.level).toBeUndefined()
    expect(new LevelOverride(shared, () => now).level).toBeUndefined()
  })

  it('holds until the next change where it has no time', () => {
    set('debug')
    now += 1e12
    expect(override.level).toBe('debug')
    set(undefined)
    expect(override.level).toBeUndefined()
  })

  it('is replaced by a later one, which has a time of its own', () => {
    set('debug', 100)
    set('warn', 1000)
    now += 500
    expect(override.level).toBe('warn')
    set('trace')
    set('error', 5)
    now += 5
    expect(override.level).toBeUndefined()
  })

  it('is the last one after a thousand changes within one moment, with names of any length', () => {
    for (let number = 0; number < 1000; number++) {
      const name = `${number}é`.padStart((number % (maxLevelBytes - 4)) + 1, 'x')
      set(name)
      expect(override.level).toBe(name)
    }
  })
})

describe('threads with different memory', () => {
  it('take over a change, and all agree on the latest one in whatever order they hear of them', () => {
    const other = new SharedLevel()
    set('debug')
    const debug = shared.change!
    other.adopt(debug)
    expect(other.change).toEqual(debug)
    now += 1
    set('warn', 60, other)
    const warn = other.change!
    other.adopt(debug)
    shared.adopt(warn)
    expect([shared.change, other.change]).toEqual([warn, warn])
    const { version } = shared
    shared.adopt(warn)
    expect(shared.version).toBe(version)
  })

  it('also agree where the clock of the thread with the later change is behind', () => {
    const other = new SharedLevel()
    set('debug')
    other.adopt(shared.change!)
    now -= 50
    set('warn', 60, other)
    shared.adopt(other.change!)
    expect(override.level).toBe('warn')
    now += 60
    expect(override.level).toBeUndefined()
  })
})
