import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { unloadedVariables } from '../../src/options/variables.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-env-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const unloaded = (text: string | Buffer, environment = {}) => {
  writeFileSync(join(folder, '.env'), text)
  return unloadedVariables(environment, folder)
}

it('variables of the destination that stand in .env and are not set are named, however they are written', () => {
  const text = 'SLUICE_URL=https://logs.example\n  export SLUICE_API_KEY = "k"\r\nSLUICE_LOG_BUCKET=\'b\'\n'
  expect(unloaded(text)).toEqual(['SLUICE_URL', 'SLUICE_API_KEY', 'SLUICE_LOG_BUCKET'])
  expect(unloaded(text, { SLUICE_URL: 'http://localhost', SLUICE_API_KEY: '' })).toEqual([
    'SLUICE_API_KEY',
    'SLUICE_LOG_BUCKET',
  ])
})

it('comments, empty values, other variables and other names are not', () => {
  expect(
    unloaded(
      '# SLUICE_URL=a\nSLUICE_API_KEY=\nSLUICE_URL= # none yet\nSLUICE_LEVEL=info\nMY_SLUICE_BUCKET=b\nSLUICE_BUCKETS=c\n',
    ),
  ).toEqual([])
})

it('a file that is missing, too long or none at all names nothing', () => {
  expect(unloadedVariables({}, folder)).toEqual([])
  expect(unloaded(`SLUICE_URL=a\n${'#'.repeat(70_000)}`)).toEqual([])
  rmSync(join(folder, '.env'))
  mkdirSync(join(folder, '.env'))
  expect(unloadedVariables({}, folder)).toEqual([])
})
