import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { rowsOf } from '../../support/full.js'
import { runProgram } from '../../support/programs.js'
import { startTestReceiver, type TestReceiver } from '../../support/receiver.js'
import { ReceiverContent } from '../../support/receiver-content.js'

let receiver: TestReceiver
beforeEach(async () => {
  receiver = await startTestReceiver()
})
afterEach(() => receiver.close())

/** The records, entries and output of a program. */
interface Left {
  /** Levels and first lines of the log records. */
  readonly logs?: readonly string[]
  /** Numbers of the events. */
  readonly values?: readonly number[]
  /** Titles of the entries. */
  readonly entries?: readonly string[]
  /** A part of each line of stdout. */
  readonly stdout?: readonly string[]
}

const programs: Readonly<Record<string, Left>> = {
  'content.js': {
    entries: ['Hello'],
    stdout: ['article: title, body', 'Hello: migrated', 'Unsafe: not valid, body: body has markup'],
  },
  'events.js': { values: [1001, 1002] },
  'pino-errors.js': {
    logs: ['error payment failed {"orderId":7}', 'warn gave up {"attempts":[{"reason":{"type":"Error","message":"card'],
  },
  'pino-in-process.js': {
    logs: ['error payment failed', 'info order placed {"orderId":7}'],
    stdout: ['"msg":"payment failed"'],
  },
  'pino-targets.js': {
    logs: ['info order placed {"orderId":7}'],
    stdout: ['"msg":"looked up the price"', '"orderId":7,"msg":"order placed"'],
  },
  'pino.js': {
    logs: ['error payment failed {"requestId":"r-1"}', 'info order placed {"requestId":"r-1","orderId":7}'],
  },
  'track.js': { values: [1001, 1002], stdout: ['2 of 2 value records delivered'] },
  'winston.js': {
    logs: ['error payment failed card declined', 'info order placed {"orderId":7}'],
    stdout: ['"message":"order placed","orderId":7', '"message":"payment failed card declined"'],
  },
  'worker-threads.js': {
    logs: [
      'info all images resized {"images":3}',
      'info image resized {"image":"cat.png"}',
      'info image resized {"image":"dog.png"}',
      'info image resized {"image":"owl.png"}',
    ],
    values: [1001, 1001, 1001],
  },
}

const containing = (texts: readonly string[]) => texts.map((text) => expect.stringContaining(text))
const linesOf = (text: string) => text.split('\n').slice(0, -1)
const firstLine = (text: string) => text.split('\n')[0]

describe('the examples', () => {
  const some = ['pino.js', 'winston.js', 'track.js']
  it.each(rowsOf(Object.entries(programs), ([name]) => some.includes(name)))(
    '%s does what it says',
    async (name, left) => {
      const { logs = [], values = [], entries = [], stdout = [] } = left
      const content = new ReceiverContent(receiver)
      await content.makeType('article')
      const ended = await runProgram(`../../examples/${name}`, receiver.variables)
      expect(ended).toMatchObject({ code: 0, signal: null, stderr: '' })
      expect(linesOf(ended.stdout)).toEqual(containing(stdout))
      const lines = (await receiver.logs()).map(({ level, message }) => `${level} ${firstLine(message)}`)
      expect(lines.sort()).toEqual(containing(logs))
      expect((await receiver.values()).map(({ eventId }) => eventId).sort()).toEqual(values)
      expect((await content.entries('article')).map(({ fields }) => fields.title)).toEqual(entries)
    },
  )

  it('opentelemetry.js has both lines in one trace, each in its own span, under the name of the service', async () => {
    const variables = { ...receiver.variables, OTEL_SERVICE_NAME: 'shop' }
    expect(await runProgram('../../examples/opentelemetry.js', variables)).toMatchObject({ code: 0, stderr: '' })
    const logs = await receiver.logs()
    const ids = /^(.*?) {"trace_id":"([0-9a-f]{32})","span_id":"([0-9a-f]{16})"(,"orderId":7)?}$/
    const [inner, outer] = logs.map(({ message }) => ids.exec(message))
    expect([inner?.[1], outer?.[1]]).toEqual(['stock reserved', 'order placed'])
    expect(inner?.[2]).toBe(outer?.[2])
    expect(inner?.[3]).not.toBe(outer?.[3])
    expect(logs.map(({ appName }) => appName)).toEqual(['shop', 'shop'])
  })
})
