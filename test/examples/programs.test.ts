import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runProgram } from '../support/programs.js'
import { startTestReceiver, type TestReceiver } from '../support/receiver.js'
import { ReceiverContent } from '../support/receiver-content.js'

let receiver: TestReceiver
beforeEach(async () => {
  receiver = await startTestReceiver()
})
afterEach(() => receiver.close())

/** What each example leaves at the receiver. */
const expected: Readonly<
  Record<string, { readonly logs?: number; readonly values?: number; readonly entries?: number }>
> = {
  'content.js': { entries: 1 },
  'events.js': { values: 2 },
  'pino-errors.js': { logs: 2 },
  'pino-in-process.js': { logs: 1 },
  'pino.js': { logs: 2 },
  'track.js': { values: 2 },
  'winston.js': { logs: 2 },
}

describe('the examples', () => {
  it('are all run here', () => {
    expect(readdirSync(join(import.meta.dirname, '../../examples')).sort()).toEqual(Object.keys(expected))
  })

  it.each(Object.entries(expected))('%s does what it says', async (name, { logs = 0, values = 0, entries = 0 }) => {
    const content = new ReceiverContent(receiver)
    await content.makeType('article')
    const { code, stderr } = await runProgram(`../../examples/${name}`, receiver.variables)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(await receiver.logs()).toHaveLength(logs)
    expect(await receiver.values()).toHaveLength(values)
    expect(await content.entries('article')).toHaveLength(entries)
  })

  it('content.js says what has become of each post', async () => {
    await new ReceiverContent(receiver).makeType('article')
    const { stdout } = await runProgram('../../examples/content.js', receiver.variables)
    expect(stdout.trimEnd().split('\n')).toEqual([
      'article: title, body',
      'Hello: migrated',
      expect.stringMatching(/^Unsafe: not valid, body: .*<script>/),
    ])
  })
})
