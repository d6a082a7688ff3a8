import { describe, expect, it } from 'vitest'
import { sharedStyle } from '../../src/records/line-style.js'

describe('the style of lines', () => {
  it('is one for all loggers that are configured alike', () => {
    expect(sharedStyle({ messageKey: 'm' })).toBe(sharedStyle({ messageKey: 'm' }))
    expect(sharedStyle({ messageKey: 'm' })).not.toBe(sharedStyle({ messageKey: 'n' }))
  })

  it('is that of its kind of logger after too many different ones', () => {
    const styles = Array.from({ length: 10_000 }, (_, level) => sharedStyle({ logger: 'winston', level: `l${level}` }))
    expect(new Set(styles).size).toBeLessThan(300)
    expect(styles.at(-1)).toEqual({ logger: 'winston' })
    expect(sharedStyle({ messageKey: 'another' })).toEqual({ logger: 'pino' })
  })
})
