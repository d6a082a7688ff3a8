import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readConfiguration } from '../../../src/cli/doctor/configuration-check.js'

describe('the check of the configuration', () => {
  it('advises to read a .env file that has variables of Sluice', () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-doctor-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const adviceIn = (environment: Record<string, string>) => readConfiguration(environment, folder).findings[0]?.advice
    expect(adviceIn({})).not.toContain('.env')
    writeFileSync(join(folder, '.env'), 'PORT=3000\nSLUICE_URL=https://api.example\n')
    for (const environment of [{}, { SLUICE_BUCKET: 'demo' }])
      expect(adviceIn(environment)).toContain('node --env-file=.env node_modules/sluice/bin/sluice.js doctor')
  })
})
