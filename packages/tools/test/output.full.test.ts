import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { testHostileOutput } from '../../../test/support/hostile-output.js'
import { folderHere } from './support/shipping.js'

function fileOf(text: string): string {
  const path = join(folderHere(), 'lines')
  writeFileSync(path, text)
  return path
}

const entries = () => ['migrate', fileOf('{"fields":{}}\n'), '--project', 'p', '--type', 't']

testHostileOutput({
  program: join(import.meta.dirname, '../bin/sluice-tools.js'),
  commands: {
    ship: async () => ['ship', fileOf('line\n')],
    migrate: async () => entries(),
    'migrate --dry-run': async () => [...entries(), '--dry-run'],
  },
  // The reason of a rejected line is in the file of rejects.
  silent: ['migrate'],
  wrong: [
    ['xX'],
    ['ship', '--X'],
    ['ship', '/not/thereX'],
    ['migrate', '/not/thereX', '--project', 'p', '--type', 't'],
  ],
  source: join(import.meta.dirname, '../src'),
  writers: [],
})
