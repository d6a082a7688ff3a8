import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { optionTable, variablesOf } from '../../src/options/defaults.js'
import { root } from './markdown.js'
import { publicNames } from './public-names.js'

const names = [root, join(root, 'packages/receiver')].flatMap(publicNames)
const proseOf = Object.fromEntries(names.map(({ name, prose }) => [name, prose]))
const tagsOf = Object.fromEntries(names.map(({ name, tags }) => [name, tags]))

describe('the docstrings of the packages as they are built', () => {
  it('are seen of every entry, with the members of what it exports', () => {
    expect(Object.keys(proseOf)).toEqual(
      expect.arrayContaining([
        'sluice: track',
        'sluice: Ledger.accepted',
        'sluice: SluiceOptions.url',
        'sluice/pino: default',
        'sluice/pino: PinoTargetOptions.url',
        'sluice/winston: SluiceTransport.log',
        'sluice/testing: CapturedSluice.clear',
        'sluice/content: ContentClient.createEntry',
        'sluice/metrics: health',
        'sluice-receiver: startReceiver',
      ]),
    )
    expect(names.length).toBeGreaterThan(300)
  })

  it('leave out no public name', () => {
    expect(names.filter(({ prose }) => prose === '').map(({ name }) => name)).toEqual([])
  })

  it('say what each set-up throws', () => {
    const setUps = ['sluice: createSluice', 'sluice/pino: sluicePino', 'sluice/pino: pinoTarget']
    const others = ['sluice/winston: SluiceTransport', 'sluice/content: createContentClient']
    expect([...setUps, ...others].filter((name) => !tagsOf[name]?.throws?.includes('ConfigError'))).toEqual([])
  })
})

describe('the docstring of an option', () => {
  it.each(Object.entries(optionTable))('%s names its variables, range and default', (option, row) => {
    const name = `sluice: SluiceOptions.${option}`
    for (const variable of variablesOf(row)) {
      expect(proseOf[name]).toContain(`\`${variable}\``)
    }
    if (row.kind.type === 'integer') expect(proseOf[name]).toContain(`${row.kind.min} to ${row.kind.max}`)
    const told = tagsOf[name]?.default
    if (row.default !== undefined) expect(told?.replace(/^'|'$/g, '')).toBe(String(row.default))
    if (row.default === undefined && row.defaultText !== undefined) expect(told).toBeTruthy()
  })
})
