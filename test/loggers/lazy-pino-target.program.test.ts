import { beforeEach, describe, expect, it } from 'vitest'
import { rowsOf } from '../support/full.js'
import { runProgram, startProgram } from '../support/programs.js'
import { startTestReceiver, type TestReceiver } from '../support/receiver.js'

let receiver: TestReceiver
beforeEach(async () => {
  receiver = await startTestReceiver()
  return () => receiver.close()
})

describe('pino with the target sluice, as users of other transports write it', () => {
  it('has every line delivered at a natural end', async () => {
    const ended = await runProgram('pino-natural-end.js', { ...receiver.variables, TARGET: 'sluice' })
    expect(ended).toEqual({ code: 0, signal: null, stdout: '', stderr: '' })
    expect(await receiver.logs()).toHaveLength(202)
  })

  it.each(rowsOf(['exit 3', 'exception'], (end) => end === 'exit 3'))(
    'has every line delivered at an end by %s',
    async (END) => {
      const ended = await runProgram('exits.js', { ...receiver.variables, TARGET: 'sluice', WAY: 'pino', END })
      expect(ended.code).toBe(END === 'exception' ? 1 : 3)
      expect(await receiver.logs()).toHaveLength(1000)
    },
  )

  it('has every line delivered at SIGTERM where sluice is imported', async () => {
    const variables = { ...receiver.variables, TARGET: 'sluice', WAY: 'pino', END: 'SIGTERM' }
    const { signal } = await startProgram('exits.js', { variables, flags: ['--import', 'sluice/register'] }).ended
    expect(signal).toBe('SIGTERM')
    expect(await receiver.logs()).toHaveLength(1000)
  })
})
