import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { full, rowsOf } from '../support/full.js'
import { ampleTime, runProgram } from '../support/programs.js'
import { startTestReceiver, type TestReceiver } from '../support/receiver.js'

let receiver: TestReceiver
beforeAll(async () => {
  receiver = await startTestReceiver()
})
afterAll(() => receiver.close())

async function messagesOf(name: string, variables: Record<string, string>) {
  const since = (await receiver.logs()).length
  const all = { ...receiver.variables, ...ampleTime, SLUICE_LEVEL: 'warn', ...variables }
  const { code, stderr } = await runProgram(name, all)
  const messages = (await receiver.logs()).slice(since).map(({ message }) => message)
  return { code, stderr, messages }
}

describe('setLevel', () => {
  it.each(rowsOf(['before', 'while', 'after'], (when) => when === 'while'))(
    'reaches the worker of pino’s target where sluice is imported %s its start, goes back, and ends by time',
    async (when) => {
      const { code, stderr, messages } = await messagesOf('levels-late.js', { IMPORT: when })
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect([...new Set(messages)].sort()).toEqual(['debug is set', 'the end', 'trace is set'])
      expect(messages.at(-1)).toBe('the end')
    },
  )

  it('holds in all threads of the application and all of their loggers, whichever thread sets it', async () => {
    const { code, stderr, messages } = await messagesOf('levels-of-threads.js', {})
    const threads = ['main', 'worker'].flatMap((thread) =>
      ['winston', 'stream', 'target'].map((logger) => `${logger} of ${thread}`),
    )
    const expected = ['debug by main', 'debug by worker'].flatMap((when) => threads.map((each) => `${when}: ${each}`))
    expect(messages.sort()).toEqual(expected.sort())
    const line =
      'sluice: setLevel: a logger does not know the level "loud" and stays at its option level (SLUICE_LEVEL)\n'
    expect({ code, stderr }).toEqual({ code: 0, stderr: line })
  })

  it.runIf(full)('leaves one of two changes that two threads make at once, and no reader sees a mixture', async () => {
    const { code, stdout } = await runProgram('levels-at-once.js')
    expect({ code, ...JSON.parse(stdout) }).toEqual({ code: 0, torn: [], isBackwards: false, last: true })
  })
})
