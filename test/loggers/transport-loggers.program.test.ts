import { expect, it } from 'vitest'
import { runProgram } from '../support/programs.js'
import { startTestReceiver } from '../support/receiver.js'

it.each(['exception', 'rejection', 'handler'])(
  'a logger that handles a fatal error ends the process as soon as the line is taken, and it is delivered: %s',
  async (way) => {
    const receiver = await startTestReceiver()
    const { code, stdout } = await runProgram('winston-exception.js', { ...receiver.variables, WAY: way })
    const logs = await receiver.logs()
    await receiver.close()
    expect(code).toBe(1)
    expect(logs.map(({ message }) => message)).toContainEqual(expect.stringContaining('nobody caught it'))
    // Without the event `finish` winston waits for three seconds.
    expect(Number(stdout)).toBeLessThan(2900)
  },
)
