import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')

it('documents show the option tables that the code has', () => {
  const printed = execFileSync(process.execPath, [join(root, 'tools/options-table.js')], { encoding: 'utf8' })
  const [library = '', receiver = ''] = printed.trim().split('\n\n')
  expect(readFileSync(join(root, 'docs/options.md'), 'utf8')).toContain(library)
  expect(readFileSync(join(root, 'packages/receiver/README.md'), 'utf8')).toContain(receiver)
  expect(receiver).toContain('SLUICE_RECEIVER_DATA')
})
