import { join } from 'node:path'
import { testHostileOutput } from '../../../../test/support/hostile-output.js'
import { cli } from '../processes.js'

testHostileOutput({
  program: cli,
  commands: { logs: async () => ['logs'], values: async () => ['values'] },
  wrong: [
    ['xX'],
    ['--X'],
    ['keys', 'listX'],
    ['--data', ':memory:', '--events', '/not/thereX'],
    ['logs', '--X'],
    ['values', '--events', '/not/thereX'],
  ],
  source: join(import.meta.dirname, '../../src/commands'),
  writers: [],
})
