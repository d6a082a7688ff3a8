import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startProgram } from '../support/programs.js'
import { startTestReceiver, type TestReceiver } from '../support/receiver.js'

let receiver: TestReceiver
beforeEach(async () => {
  receiver = await startTestReceiver()
})
afterEach(() => receiver.close())

function end(program: string, variables: Record<string, string> = {}) {
  return startProgram(program, { flags: ['--expose-gc'], variables: { ...receiver.variables, ...variables } }).ended
}

describe('what a request keeps in AsyncLocalStorage', () => {
  it('is not kept by the hooks that a lone target loads in the middle of it', async () => {
    expect(await end('pino-alone-in-request.js')).toMatchObject({ code: 0, stdout: 'collected\n', stderr: '' })
  })

  it.each(['worker', 'inline'])('is not kept by delivery that begins in it (mode %s)', async (mode) => {
    const ended = await end('first-record-in-request.js', { SLUICE_MODE: mode })
    expect(ended).toMatchObject({ code: 0, stdout: 'collected, 1 delivered\n', stderr: '' })
  })
})
