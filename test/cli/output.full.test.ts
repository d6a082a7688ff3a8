import { join } from 'node:path'
import { expect, it } from 'vitest'
import { oneLine } from '../../src/errors/text-of.js'
import { testHostileOutput } from '../support/hostile-output.js'
import { setUpSpool, spoolFolder } from '../support/spool.js'

async function spoolOfOne(): Promise<string> {
  const dir = spoolFolder()
  const { log, end } = setUpSpool(dir)
  log('{"message":"left"}')
  await end()
  return dir
}

testHostileOutput({
  program: '../../dist/cli.js',
  commands: { doctor: async () => ['doctor'], replay: async () => ['replay', await spoolOfOne()] },
  wrong: [['xX'], ['replay', '--X'], ['replay', '/not/thereX']],
  source: join(import.meta.dirname, '../../src/cli'),
  writers: ['output.ts'],
})

it('prints at most 2,000 characters of a line', () => {
  expect(oneLine('x'.repeat(10_000_000))).toBe(`${'x'.repeat(2000)}…`)
})
