import pino from 'pino'
import { describe, expect, it } from 'vitest'
import { baseOf, sharedStyle } from '../../src/loggers/pino-logger.js'

describe('the style of loggers', () => {
  it('is one for all that are configured alike', () => {
    expect(sharedStyle({ messageKey: 'm' })).toBe(sharedStyle({ messageKey: 'm' }))
    expect(sharedStyle({ messageKey: 'm' })).not.toBe(sharedStyle({ messageKey: 'n' }))
  })

  it('has of the base the fields of pino, and not those that an application adds for each request', () => {
    expect(baseOf(pino({ base: { pid: 1, hostname: 'h', name: 'n', request: 'r-1' } }))).toEqual({
      pid: 1,
      hostname: 'h',
      name: 'n',
    })
  })

  it('has no base after too many different ones', () => {
    const styles = new Set(Array.from({ length: 10_000 }, (_, name) => sharedStyle({ base: { name } })))
    expect(styles.size).toBeLessThan(100)
  })
})
