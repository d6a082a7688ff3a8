import { expect, it, onTestFinished } from 'vitest'
import { FaultServer } from '../../support/fault-server.js'
import { rowsOf } from '../../support/full.js'
import { runProgram } from '../../support/programs.js'

const here = { SLUICE_API_KEY: 'k', SLUICE_BUCKET: 'b', SLUICE_SHUTDOWN_TIMEOUT_MS: '2000' }

const toldTwice = [
  { WAY: 'pino, then sluice', END: 'exit 0' },
  { WAY: 'pino, then sluice', END: 'exception' },
  { WAY: 'sluice, then pino', END: 'exception' },
]

it.each(rowsOf(toldTwice, ({ WAY, END }) => WAY === 'pino, then sluice' && END === 'exit 0'))(
  'a loss is told once where pino’s worker still starts and the service hangs: $WAY, $END',
  async (how) => {
    const server = await FaultServer.start(() => ({ type: 'silence' }))
    onTestFinished(() => server.close())
    const { stderr } = await runProgram('exits.js', { ...here, ...how, SLUICE_URL: server.url })
    const losses = stderr.match(/^sluice: 1000 .*not delivered before the end/gm)
    expect(losses, stderr).toHaveLength(1)
  },
)
