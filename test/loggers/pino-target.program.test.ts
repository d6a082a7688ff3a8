import { describe, expect, it, onTestFinished } from 'vitest'
import { FaultServer } from '../support/fault-server.js'
import { runProgram } from '../support/programs.js'

async function logged(options: object) {
  const server = await FaultServer.start()
  onTestFinished(() => server.close())
  const all = { url: server.url, apiKey: 'k', bucket: 'b', ...options }
  const ended = await runProgram('pino-unknown-options.js', { TARGET_OPTIONS: JSON.stringify(all) })
  return { ...ended, taken: server.taken.length }
}

describe('a target of pino', () => {
  it('delivers if pino adds something new to its options, and reports unknown names once', async () => {
    expect(await logged({ pinoNews: {}, transportId: 7 })).toEqual({
      code: 0,
      signal: null,
      stdout: '',
      stderr:
        'sluice: unknown option transportId of the pino target is ignored, records are delivered: remove it, or see the README for the names of options\n',
      taken: 1,
    })
  })

  it('refuses a misspelt option, and names the nearest one', async () => {
    expect(await logged({ maxConnectoins: 1 })).toMatchObject({
      stdout: 'unknown option maxConnectoins; did you mean maxConnections?',
      taken: 0,
    })
  })
})
