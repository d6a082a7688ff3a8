import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { rowsOf } from '../../support/full.js'
import { ampleTime, startProgram } from '../../support/programs.js'
import { startTestReceiver, type TestReceiver } from '../../support/receiver.js'

let receiver: TestReceiver
beforeAll(async () => {
  receiver = await startTestReceiver()
})
afterAll(() => receiver.close())

const ways = ['pino', 'sluicePino', 'winston', 'track']
const signals = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR2']
const hows = [
  'as its last line',
  'and exits',
  'in a listener of beforeExit',
  'in a listener of exit',
  'as its child has died of it',
  'in a listener of its own, which closes the server',
]
const all = ways.flatMap((way) =>
  signals.flatMap((signal) => hows.flatMap((how) => ['worker', 'inline'].map((mode) => ({ way, signal, how, mode })))),
)
const some = new Set(hows.map((how, index) => `${ways[(index + 2) % 4]} ${signals[index % 5]} ${how} worker`))

describe('an application that raises a signal on itself, to which only Sluice listens', () => {
  it.each(rowsOf(all, ({ way, signal, how, mode }) => some.has(`${way} ${signal} ${how} ${mode}`)))(
    '$way, $mode, $signal, $how: dies of it, and everything is delivered',
    async ({ way, signal, how, mode }) => {
      const held = async () => (await receiver.logs()).length + (await receiver.values()).length
      const before = await held()
      const variables = { ...receiver.variables, ...ampleTime, SLUICE_MODE: mode, WAY: way, SIGNAL: signal, HOW: how }
      const program = startProgram('raises.js', { variables, flags: ['--import', 'sluice/register'] })
      onTestFinished(() => void program.process.kill('SIGKILL'))
      expect(await program.ended).toEqual({ code: null, signal, stdout: '', stderr: '' })
      expect((await held()) - before).toBe(how.includes('of its own') ? 21 : 20)
    },
  )

  it.each([
    { how: 'exits', stdout: 'exit 7\n' },
    { how: 'throws', stdout: 'exit 1\n' },
  ])('$how in the turn in which it has made its logger: its listeners of exit are called before', async (row) => {
    const before = (await receiver.logs()).length
    const variables = { ...receiver.variables, ...ampleTime, HOW: row.how }
    const program = startProgram('raises-at-once.js', { variables })
    onTestFinished(() => void program.process.kill('SIGKILL'))
    expect(await program.ended).toMatchObject({ code: null, signal: 'SIGTERM', stdout: row.stdout })
    expect((await receiver.logs()).length - before).toBe(20)
  })
})
