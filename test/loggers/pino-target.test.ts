import { describe, expect, it, onTestFinished } from 'vitest'
import { targetOptions } from '../../src/loggers/pino-target.js'
import { FaultServer } from '../support/fault-server.js'
import { runProgram } from '../support/programs.js'

describe('the options of a target of pino', () => {
  it('are parted from all that pino and thread-stream put beside them', () => {
    const added = { levels: {}, dedupe: true, pinoWillSendConfig: true, $context: {}, pinoSomethingNew: 1, PINO_X: 1 }
    expect(targetOptions({ url: 'u', ...added })).toEqual({ own: { url: 'u' }, unknown: [] })
  })

  it('are checked where a name looks like one of them, and told where it looks like none', () => {
    expect(targetOptions({ bukcet: 'b', colour: 1, level: 'info', transportId: 7 })).toEqual({
      own: { bukcet: 'b', level: 'info' },
      unknown: ['colour', 'transportId'],
    })
  })
})

async function logged(options: object) {
  const server = await FaultServer.start()
  onTestFinished(() => server.close())
  const all = { url: server.url, apiKey: 'k', bucket: 'b', ...options }
  const ended = await runProgram('pino-unknown-options.js', { TARGET_OPTIONS: JSON.stringify(all) })
  return { ...ended, taken: server.taken.length }
}

describe('a target of pino', () => {
  it('delivers though pino puts something new beside its options, and says once what it does not know', async () => {
    expect(await logged({ pinoNews: {}, transportId: 7 })).toEqual({
      code: 0,
      signal: null,
      stdout: '',
      stderr:
        'sluice: unknown option transportId of the pino target is ignored; records are delivered: take it out, or see the README for the names\n',
      taken: 1,
    })
  })

  it('refuses a misspelt option, and says which one may have been meant', async () => {
    expect(await logged({ maxBacth: 1 })).toMatchObject({
      stdout: 'unknown option maxBacth; did you mean maxBatch?',
      taken: 0,
    })
  })
})
