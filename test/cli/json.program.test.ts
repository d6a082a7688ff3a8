import { expect, it } from 'vitest'
import { startProgram } from '../support/programs.js'

it.each([['replay', '--bogus'], ['replay'], ['doctor', 'x']])(
  '--json prints what is wrong with %s %s as an object',
  async (...written) => {
    const words = [...written.filter(Boolean), '--json']
    const { code, stdout, stderr } = await startProgram('../../dist/cli.js', { arguments: words }).ended
    const { ok, error } = JSON.parse(stdout)
    expect({ code, ok }).toEqual({ code: 2, ok: false })
    expect(stderr).toBe(`sluice ${written[0]}: ${error}\n`)
  },
)

it('--json prints a failure as an object with the message of stderr', async () => {
  const { code, stdout, stderr } = await startProgram('../../dist/cli.js', {
    arguments: ['replay', 'not-there', '--dry-run', '--json'],
  }).ended
  const { ok, error } = JSON.parse(stdout)
  expect({ code, ok }).toEqual({ code: 2, ok: false })
  expect(stderr).toBe(`sluice replay: ${error}\n`)
})
