import { ConfigError, type SetLevelOptions, setLevel } from 'sluice'
import { afterEach, describe, expect, it } from 'vitest'
import { sharedLevel } from '../../src/runtime/shared-level.js'

afterEach(() => setLevel(undefined))

describe('setLevel', () => {
  it.each([
    [7, '7'],
    [null, 'null'],
    ['', '""'],
    ['  ', '"  "'],
    ['é'.repeat(33), `"${'é'.repeat(33)}"`],
    [{}, 'an object'],
  ])('refuses %j as a level, and changes nothing', (level, shown) => {
    setLevel('debug')
    const expected = `setLevel, level: expected the name of a level, such as debug or warn, or undefined, got ${shown}`
    expect(() => setLevel(level as string)).toThrow(expected)
    expect(sharedLevel().change).toMatchObject({ level: 'debug' })
  })

  it.each([
    [0, '0'],
    [-1, '-1'],
    [Number.NaN, 'NaN'],
    ['600', '"600"'],
    [null, 'null'],
    [1n, 'a bigint'],
  ])('refuses the time %s, and changes nothing', (forMs, shown) => {
    setLevel('debug')
    const bad = { forMs } as SetLevelOptions
    expect(() => setLevel('warn', bad)).toThrow(
      `setLevel, forMs: expected a number of milliseconds above 0, got ${shown}`,
    )
    expect(sharedLevel().change).toMatchObject({ level: 'debug' })
  })

  it.each([
    [600_000, 'an object, such as { forMs: 600_000 }, got 600000'],
    [null, 'an object, such as { forMs: 600_000 }, got null'],
    [{ forMS: 600_000 }, 'no other name than forMs, got "forMS"'],
  ])('refuses %j in place of its options, and changes nothing', (options, expected) => {
    setLevel('debug')
    expect(() => setLevel('warn', options as SetLevelOptions)).toThrow(`setLevel, options: expected ${expected}`)
    expect(sharedLevel().change).toMatchObject({ level: 'debug' })
  })

  it('throws an error that names what was wrong in its fields, too', () => {
    const thrown = (() => {
      try {
        setLevel('debug', { forMs: -1 })
      } catch (error) {
        return error
      }
    })()
    expect(thrown).toBeInstanceOf(ConfigError)
    expect(thrown).toMatchObject({ code: 'SLUICE_CONFIG_INVALID', option: 'forMs', value: -1 })
  })

  it('takes names of 64 bytes and times beyond those of timers', () => {
    setLevel('é'.repeat(32), { forMs: 1e15 })
    const { level, at, until } = sharedLevel().change!
    expect({ level, forMs: until - at }).toEqual({ level: 'é'.repeat(32), forMs: expect.closeTo(1e15, -1) })
  })
})
