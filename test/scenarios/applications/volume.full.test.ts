import { close, flush, type Ledger, setLevel, stats } from 'sluice'
import { SluiceTransport } from 'sluice/winston'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import winston from 'winston'
import { rowsOf } from '../../support/full.js'
import { ampleTime, runProgram } from '../../support/programs.js'
import { startTestReceiver, type TestReceiver } from '../../support/receiver.js'
import { volumeWays } from '../../support/volume-ways.js'

let receiver: TestReceiver
let before: Ledger
beforeEach(async () => {
  receiver = await startTestReceiver()
  before = stats()
})
afterEach(async () => {
  setLevel(undefined)
  await receiver.close()
})

async function messages(): Promise<string[]> {
  return (await receiver.logs()).map(({ message }) => message)
}

/** Closes, and gives what the ledger counts since the beginning of the test. */
async function suppressed(): Promise<Readonly<Record<string, number>>> {
  const after = await close()
  const { accepted, delivered, suppressed } = after
  const now = Object.entries(suppressed).map(
    ([reason, count]) => [reason, count - before.suppressed[reason as keyof typeof suppressed]] as const,
  )
  const sum = now.reduce((total, [, count]) => total + count, 0)
  expect(accepted - before.accepted).toBe(delivered - before.delivered + sum)
  return Object.fromEntries(now.filter(([, count]) => count > 0))
}

const chosenWays = ['sluicePino() in a worker', 'winston with text inline']

describe.each(rowsOf(volumeWays, ([way]) => chosenWays.includes(way)))('%s', (_, open) => {
  it('with sample, keeps whole traces of a level and says which share, and leaves out the others', async () => {
    const log = open({ ...receiver.options, sample: { debug: 0.25, info: 0 } })
    const kept = 'f'.repeat(32)
    const left = '0'.repeat(31).concat('1')
    for (const trace_id of [kept, left]) {
      log('debug', { trace_id, n: 1 }, 'one')
      log('debug', { trace_id, n: 2 }, 'two')
      log('info', { trace_id }, 'never')
      log('warn', { trace_id }, 'always')
    }
    expect(await suppressed()).toEqual({ sampled: 4 })
    const logs = await messages()
    expect(logs.filter((message) => message.startsWith('always '))).toHaveLength(2)
    const debug = logs.filter((message) => /^(one|two) /.test(message))
    expect(debug).toHaveLength(2)
    for (const message of debug)
      expect(JSON.parse(message.slice(4))).toMatchObject({ trace_id: kept, sampleRate: 0.25 })
    expect(logs.filter((message) => message.includes('sampleRate'))).toHaveLength(2)
  })

  it('with keepForError, sends the lines below the level of a request in which an error comes, and no others', async () => {
    const log = open({ ...receiver.options, level: 'warn', keepForError: '3/60s' })
    for (const requestId of ['good', 'bad']) {
      for (let n = 0; n < 5; n++) log('debug', { requestId, n }, 'step')
      log('warn', { requestId }, 'slow')
    }
    log('info', {}, 'of no request')
    log('error', { requestId: 'bad' }, 'failed')
    log('debug', { requestId: 'bad' }, 'after it')
    expect(await suppressed()).toEqual({ unneeded: 5 + 2 + 1 + 1 })
    const words = (await messages()).map((message) => {
      const { requestId, n = '' } = JSON.parse(message.slice(message.indexOf('{')))
      return `${message.slice(0, message.indexOf(' '))} ${requestId}${n}`
    })
    expect(words.sort()).toEqual(['failed bad', 'slow bad', 'slow good', 'step bad2', 'step bad3', 'step bad4'])
  })

  it('with keepForError, sends at once the lines that setLevel lets through', async () => {
    const log = open({ ...receiver.options, level: 'error', keepForError: '3/60s' })
    log('info', { requestId: 'a' }, 'kept')
    // A target counts a line by the level that holds when its worker reads the line.
    await flush()
    setLevel('info')
    log('info', { requestId: 'b' }, 'sent')
    log('debug', { requestId: 'b' }, 'kept')
    expect(await suppressed()).toEqual({ unneeded: 2 })
    expect((await messages()).map((message) => message.split(' ')[0])).toEqual(['sent'])
  })
})

it('winston keeps lines for an error after its level was lowered', async () => {
  const transports = [new SluiceTransport({ ...receiver.options, level: 'info', keepForError: '3/60s' } as object)]
  const logger = winston.createLogger({ level: 'info', transports })
  logger.debug('before', { requestId: 'bad' })
  logger.level = 'debug'
  logger.debug('after', { requestId: 'bad' })
  logger.error('failed', { requestId: 'bad' })
  expect(await suppressed()).toEqual({})
  expect((await messages()).map((message) => message.split(' ')[0]).sort()).toEqual(['after', 'failed'])
})

describe('a process with lines that are left out', () => {
  const ends = [
    { end: 'idle', code: 0, signal: null },
    { end: 'exit', code: 0, signal: null },
    { end: 'signal', code: null, signal: 'SIGTERM' },
    { end: 'throw', code: 1, signal: null },
  ]
  const rows = ends.flatMap((each) => [
    ...['worker', 'inline'].map((mode) => ({ ...each, way: 'sluicePino()', mode })),
    // Without an import of `sluice` in its main thread, a signal ends it at once.
    ...(each.signal === null ? [{ ...each, way: 'target', mode: 'worker' }] : []),
  ])

  const some = ['target exit', 'sluicePino() signal']
  it.each(rowsOf(rows, ({ way, end, mode }) => mode === 'worker' && some.includes(`${way} ${end}`)))(
    'counts each of them at its end by $end, and sends all others: $way, $mode',
    async ({ end, code, signal, way, mode }) => {
      const ended = await runProgram('leaves-out.js', {
        ...receiver.variables,
        ...ampleTime,
        WAY: way,
        END: end,
        SLUICE_MODE: mode,
        SLUICE_DEBUG: '1',
        SLUICE_LEVEL: 'info',
        SLUICE_SAMPLE: 'info:0',
        SLUICE_KEEP_FOR_ERROR: '200/30s',
      })
      expect(ended).toMatchObject({ code, signal })
      const failed = end === 'throw'
      const [accepted, delivered] = failed ? [56, 8] : [55, 2]
      expect(ended.stderr).toContain(
        `ledger accepted=${accepted} delivered=${delivered} rejected=0 dropped=0 spooled=0 queued=0 inFlight=0`,
      )
      const logs = await messages()
      expect(logs.filter((message) => message.startsWith('number ')).sort()).toEqual(['number 0', 'number 1'])
      expect(logs.filter((message) => message.startsWith('step '))).toHaveLength(failed ? 5 : 0)
      expect(logs).toHaveLength(delivered)
    },
  )
})
