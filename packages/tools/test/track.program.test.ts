import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { FaultServer } from '../../../test/support/fault-server.js'
import { startProgram } from '../../../test/support/programs.js'
import { startTestReceiver } from '../../../test/support/receiver.js'

const program = join(import.meta.dirname, '../bin/sluice-tools.js')

function track(written: readonly string[], variables: Readonly<Record<string, string>> = {}) {
  return startProgram(program, { arguments: ['track', ...written], variables }).ended
}

async function receiverHere() {
  const receiver = await startTestReceiver()
  onTestFinished(() => receiver.close())
  return receiver
}

describe('sluice-tools track', () => {
  it('ends with 0 when the event is stored, as often as --count says', async () => {
    const receiver = await receiverHere()
    const variables = { ...receiver.variables, SLUICE_APP_NAME: 'ci' }
    expect(await track(['1001'], variables)).toEqual({
      code: 0,
      signal: null,
      stdout: '1 of 1 event stored\n',
      stderr: '',
    })
    expect(await track(['7', '--count', '300'], variables)).toMatchObject({
      code: 0,
      stdout: '300 of 300 events stored\n',
    })
    const values = await receiver.values()
    expect(values.filter(({ eventId }) => eventId === 7)).toHaveLength(300)
    expect(values[0]).toMatchObject({ eventId: 1001, appName: 'ci' })
  })

  it('is stored once with the same key, however often it runs', async () => {
    const receiver = await receiverHere()
    for (let time = 0; time < 2; time++) {
      expect(await track(['1001', '--key', 'deploy-1'], receiver.variables)).toMatchObject({ code: 0 })
    }
    expect(await receiver.values()).toHaveLength(1)
  })

  it('ends with 1 when the event is not stored, and says why', async () => {
    const server = await FaultServer.start(() => ({ type: 'answer', status: 400, body: '{"errors":[]}' }))
    onTestFinished(() => server.close())
    const variables = { SLUICE_URL: server.url, SLUICE_API_KEY: 'k', SLUICE_BUCKET: 'b' }
    const refused = await track(['1'], variables)
    expect(refused).toMatchObject({ code: 1, stderr: '' })
    expect(refused.stdout).toMatch(/^0 of 1 event stored\n1 rejected:\n {2}1 × \S/)
    const nobody = { ...variables, SLUICE_URL: 'http://127.0.0.1:1' }
    expect(await track(['1', '--json'], nobody)).toMatchObject({
      code: 1,
      stdout:
        '{"ok":false,"event":1,"count":1,"stored":0,"rejected":0,"rejections":[],"lost":1,"reason":"connect ECONNREFUSED 127.0.0.1:1"}\n',
    })
    expect(await track(['1'], { ...variables, SLUICE_DISABLED: 'true' })).toMatchObject({
      code: 1,
      stderr: 'sluice-tools track: Sluice is disabled (SLUICE_DISABLED): nothing is sent\n',
    })
  })

  it.each<[string[], string]>([
    [[], 'EVENT: expected the number of an event'],
    [['1', '2'], 'EVENT: expected one event, got 2: 1, 2'],
    [['1.5'], 'EVENT: expected a whole number from 0, got "1.5"'],
    [['99999999999999999'], 'EVENT: expected a whole number from 0'],
    [['1', '--count', '0'], '--count: expected a whole number from 1 to 10000, got "0"'],
    [['1', '--key', 'a b'], '--key: expected 1 to 200 visible ASCII characters, got "a b"'],
    [['1', '--key', 'a', '--count', '2'], '--key and --count: expected one of them, got both'],
    [['1'], 'there is nowhere to send events to: set SLUICE_URL, SLUICE_API_KEY and SLUICE_BUCKET'],
  ])('called with %j ends with 2 and says: %s', async (written, words) => {
    const { code, stdout, stderr } = await track(written)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(words)
  })
})
