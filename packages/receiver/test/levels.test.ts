import { describe, expect, it } from 'vitest'
import { levelNames, severityOfName } from '../../../src/records/level.js'
import { levelsFrom } from '../dist/schemas/levels.js'

describe('levels from a least one on', () => {
  it.each(levelNames)('are those that the library takes for as important: %s', (least) => {
    const levels = new Set(levelsFrom(least))
    for (const name of levelNames) {
      expect([name, levels.has(name)]).toEqual([name, severityOfName(name)! >= severityOfName(least)!])
    }
  })

  it('have the spellings of common loggers', () => {
    expect(levelsFrom('fatal')).toEqual(expect.arrayContaining(['fatal', 'Fatal', 'FATAL', 'emerg']))
  })
})
