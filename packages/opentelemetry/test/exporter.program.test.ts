import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ampleTime, runProgram } from '../../../test/support/programs.js'
import { startTestReceiver } from '../../../test/support/receiver.js'

describe('a program that logs through the simple processor and never calls shutdown', () => {
  it.each([
    ['by itself', {}, { code: 0, signal: null }],
    ['by SIGTERM', { END: 'SIGTERM' }, { code: null, signal: 'SIGTERM' }],
  ])('has delivered all records when it ends %s', async (_, end, expected) => {
    const receiver = await startTestReceiver()
    onTestFinished(() => receiver.close())
    const ended = await runProgram(join(import.meta.dirname, 'ends.js'), {
      ...receiver.variables,
      ...ampleTime,
      ...end,
    })
    expect(ended).toEqual({ ...expected, stdout: '', stderr: '' })
    expect(await receiver.logs()).toHaveLength(200)
  })
})
