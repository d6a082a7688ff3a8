import { describe, expect, it } from 'vitest'
import { ampleTime, runProgram } from '../../support/programs.js'
import { startTestReceiver } from '../../support/receiver.js'

describe('the end of a process', () => {
  it.each([
    ['of five lines by pino’s target, a natural one', 'five-lines.js', 5, {}],
    ['of 330 lines by sluicePino(), with close()', 'many-levels.js', 330, {}],
    ['of 330 lines by sluicePino(), inline, with close()', 'many-levels.js', 330, { SLUICE_MODE: 'inline' }],
  ])('%s, keeps the order in which they were accepted', async (_, program, count, variables) => {
    const receiver = await startTestReceiver()
    await runProgram(program, { ...receiver.variables, ...ampleTime, ...variables })
    const inOrder = Array.from({ length: count }, (_, index) => `${index + 1}`)
    expect((await receiver.logs()).map(({ message }) => message)).toEqual(inOrder)
    await receiver.close()
  })
})
