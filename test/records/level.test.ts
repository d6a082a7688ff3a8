import { describe, expect, it } from 'vitest'
import { levelNames, severityOfName } from '../../src/records/level.js'

describe('the importance of a level by its name', () => {
  it('rises along the names, from 0 to 5', () => {
    const severities = levelNames.map(severityOfName)
    expect(severities).toEqual(severities.toSorted())
    expect([severities.at(0), severities.at(-1)]).toEqual([0, 5])
  })

  it.each(['WARN', 'Warn', 'warn'])('needs no certain case: %s', (name) => {
    expect(severityOfName(name)).toBe(3)
  })

  it.each(['', 'wärn', 'constructor', '__proto__'])('is unknown for a name that no common logger uses: %j', (name) => {
    expect(severityOfName(name)).toBeUndefined()
  })
})
