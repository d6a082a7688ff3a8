import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')

it('the README shows the option table that the code has', () => {
  const printed = execFileSync(process.execPath, [join(root, 'scripts/options-table.js')], { encoding: 'utf8' })
  expect(readFileSync(join(root, 'README.md'), 'utf8')).toContain(printed.trim())
})
