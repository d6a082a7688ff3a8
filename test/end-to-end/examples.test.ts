import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runProgram } from '../support/programs.js'
import { startTestReceiver, type TestReceiver } from '../support/receiver.js'

let receiver: TestReceiver
beforeEach(async () => {
  receiver = await startTestReceiver()
})
afterEach(() => receiver.close())

/** What each example leaves at the receiver. */
const expected: Readonly<Record<string, { readonly logs: number; readonly values: number }>> = {
  'events.js': { logs: 0, values: 2 },
  'pino-errors.js': { logs: 2, values: 0 },
  'pino-in-process.js': { logs: 1, values: 0 },
  'pino.js': { logs: 2, values: 0 },
  'track.js': { logs: 0, values: 2 },
  'winston.js': { logs: 2, values: 0 },
}

describe('the examples', () => {
  it('are all run here', () => {
    expect(readdirSync(join(import.meta.dirname, '../../examples')).sort()).toEqual(Object.keys(expected))
  })

  it.each(Object.entries(expected))('%s does what it says', async (name, { logs, values }) => {
    const { code, stderr } = await runProgram(`../../examples/${name}`, receiver.variables)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(await receiver.logs()).toHaveLength(logs)
    expect(await receiver.values()).toHaveLength(values)
  })
})
