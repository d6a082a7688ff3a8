import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { table } from '../../src/options/table.js'

const root = join(import.meta.dirname, '../..')

it('documents show the option tables that the code has', () => {
  const printed = execFileSync(process.execPath, [join(root, 'tools/options-table.js')], { encoding: 'utf8' })
  const [library = '', rare = '', receiver = ''] = printed.trim().split('\n\n')
  const page = readFileSync(join(root, 'docs/options.md'), 'utf8')
  expect(page).toContain(library)
  expect(page.split('## Rarely needed')[1]).toContain(rare)
  const shown = [...`${library}${rare}`.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name)
  expect(shown.sort()).toEqual([...Object.keys(table), 'accessToken'].sort())
  expect(readFileSync(join(root, 'packages/receiver/README.md'), 'utf8')).toContain(receiver)
  expect(receiver).toContain('SLUICE_RECEIVER_DATA')
})
