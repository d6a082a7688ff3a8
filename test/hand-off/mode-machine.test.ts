import { expect, it } from 'vitest'
import { ModeMachine } from '../../src/hand-off/mode-machine.js'

it('enters the modes to which the present one leads, and no other', () => {
  const machine = new ModeMachine<'open' | 'closed'>('open', { open: ['closed'], closed: [] })
  expect(machine.now).toBe('open')
  expect(machine.enter('open')).toBe(false)
  expect(machine.enter('closed')).toBe(true)
  expect(machine.now).toBe('closed')
  expect(machine.enter('open')).toBe(false)
  expect(machine.now).toBe('closed')
})
