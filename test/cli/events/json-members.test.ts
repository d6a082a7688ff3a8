import { describe, expect, it } from 'vitest'
import { jsonMembers } from '../../../src/cli/events/json-members.js'

const named = (text: string) => jsonMembers(text).map(({ path, line }) => `${line} ${path.join(' > ')}`)

describe('the members of a JSON text', () => {
  it('have their names and lines, repeated ones too', () => {
    expect(named('{ "a": 1,\n  "b": {\n "c": "x", "d": { "e": null } }, "a": 2\n}')).toEqual([
      '1 a',
      '2 b',
      '3 b > c',
      '3 b > d',
      '3 b > d > e',
      '3 a',
    ])
  })

  it('are not confused by what stands in texts and in arrays', () => {
    const text = '{"a\\"}": "{\\"x\\": [", "b": [{ "y": 1 }, "z"], "\\u0063": "\\\\"}'
    expect(named(text)).toEqual(['1 a"}', '1 b', '1 c'])
  })

  it.each(['7', '"a"', '[]', '[{"a":1}]', '{}'])('are none in %s', (text) => {
    expect(jsonMembers(text)).toEqual([])
  })
})
