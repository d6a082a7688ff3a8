import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readConfiguration } from '../../../src/cli/doctor/configuration-check.js'

describe('the check of the configuration', () => {
  it('advises to read a .env file that has variables of Sluice', () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-doctor-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const finding = (environment: Record<string, string>) => readConfiguration(environment, folder).findings[0]
    expect(JSON.stringify(finding({}))).not.toContain('.env')
    writeFileSync(join(folder, '.env'), 'PORT=3000\nSLUICE_URL=https://api.example\n')
    for (const environment of [{}, { SLUICE_BUCKET: 'demo' }])
      expect(finding(environment)).toMatchObject({
        text: expect.stringMatching(/; \.env in this folder has variables of Sluice, but nothing has loaded it$/),
        advice: expect.stringContaining('node --env-file=.env node_modules/sluice/dist/cli.js doctor'),
      })
  })
})
