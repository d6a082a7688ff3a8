import { describe, expect, it } from 'vitest'
import { assign, readAssignment } from '../../../src/cli/dead-letters/editing.js'

/** The record after `--set`, or the fault. */
function set(body: string, written: string): unknown {
  const edited = assign(body, readAssignment(written)!)
  return 'body' in edited ? edited.body : edited.fault
}

describe('--set of an edit', () => {
  it.each([
    ['{"level":"odd"}', 'level=info', '{"level":"info"}'],
    ['{}', 'eventId=7', '{"eventId":7}'],
    ['{}', 'text="7"', '{"text":"7"}'],
    ['{}', 'text=', '{"text":""}'],
    ['{}', 'text=a=b\nc', '{"text":"a=b\\nc"}'],
    ['{}', 'a.b=null', '{"a":{"b":null}}'],
    ['{"a":[1,2]}', 'a.1={"b":3}', '{"a":[1,{"b":3}]}'],
    ['{"a":[1]}', 'a.1=2', '{"a":[1,2]}'],
    ['{}', '__proto__.b=1', '{"__proto__":{"b":1}}'],
  ])('makes of %s with %j: %s', (body, written, result) => {
    expect(set(body, written)).toBe(result)
  })

  it.each([
    ['{"a":5}', 'a.b=1', '--set: a is no object'],
    ['{"a":[1]}', 'a.2=1', '--set: a.2: expected a place from 0 to 1'],
    ['{"a":[1]}', 'a.length=0', '--set: a.length: expected a place from 0 to 1'],
    ['{"id":12345678901234567890}', 'a=1', 'the record has numbers or texts that --set would change; use $EDITOR'],
  ])('refuses for %s the change %j: %s', (body, written, fault) => {
    expect(set(body, written)).toBe(fault)
  })

  it.each(['level', '=1', '', 'a..b=1', '.a=1'])('does not take %j', (written) => {
    expect(readAssignment(written)).toBeUndefined()
  })
})
