import { expect, it } from 'vitest'
import { rowsOf } from '../../support/full.js'
import { runProgram } from '../../support/programs.js'
import { startTestReceiver } from '../../support/receiver.js'

const ofPackage = 'sluice'
const rows = ['pino', 'sluicePino', 'winston'].flatMap((WAY) => [
  { WAY, variable: undefined, first: ofPackage, second: 'shop' },
  { WAY, variable: 'named', first: 'named', second: 'named' },
])

it.each(rowsOf(rows, ({ WAY, variable }) => WAY !== 'sluicePino' && variable === undefined))(
  'an event has the name that $WAY was given, once there is one, unless SLUICE_APP_NAME is set: $variable',
  async ({ WAY, variable, first, second }) => {
    const receiver = await startTestReceiver()
    try {
      const named = variable === undefined ? {} : { SLUICE_APP_NAME: variable }
      const { stdout, stderr } = await runProgram('names-service.js', { ...receiver.variables, ...named, WAY })
      expect({ stdout, stderr }).toEqual({ stdout: '3 of 3', stderr: '' })
      const names = (await receiver.values()).map(({ eventId, appName }) => [eventId, appName])
      expect(names.sort()).toEqual([
        [1, first],
        [2, second],
      ])
      expect((await receiver.logs()).map(({ appName }) => appName)).toEqual(['shop'])
    } finally {
      await receiver.close()
    }
  },
)
