import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { clientTable } from '../../src/options/client-options.js'
import { table } from '../../src/options/table.js'
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
  const rows = [
    ...Object.entries(table).map(([option, row]) => [`sluice: SluiceOptions.${option}`, row] as const),
    ['sluice/content: ContentOptions.accessToken', clientTable.accessToken] as const,
  ]
  it.each<(typeof rows)[number]>(rows)('%s names its variables, range and default', (name, row) => {
    for (const { name: variable } of row.variables) expect(proseOf[name]).toContain(`\`${variable}\``)
    const range = /^a whole number (from \d+ to \d+)$/.exec(row.kind.expected)?.[1]?.replace('from ', '')
    if (range !== undefined) expect(proseOf[name]).toContain(range)
    const told = tagsOf[name]?.default
    if (row.default !== undefined) expect(told?.replace(/^'|'$/g, '')).toBe(String(row.default))
    if (row.fallback !== undefined && !required.includes(name)) expect(told).toBeTruthy()
  })
})

/** They have no default: without them Sluice is off. */
const required = ['sluice: SluiceOptions.url', 'sluice: SluiceOptions.apiKey']
