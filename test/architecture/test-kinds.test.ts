import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from './source-files.js'

const folder = join(root, 'test')
const units = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
  (file) => /\.test\.ts$/.test(file) && !/^(scenarios|documents|tools)\/|\.(program|full)\.test\.ts$/.test(file),
)
/** The ways in which tests start a program of Node.js. */
const startsProgram = /\b(runProgram|startProgram|startShip|MigratedFile|ExampleServer|process\.execPath)\b/

describe('the tests of `npm run test:fast`', () => {
  it('start no programs', () => {
    expect(units.length).toBeGreaterThan(50)
    const others = units.filter((file) => !file.startsWith('architecture/'))
    expect(others.filter((file) => startsProgram.test(readFileSync(join(folder, file), 'utf8')))).toEqual([])
  })

  it('stand in a folder of src, in test/architecture or in test/simulation', () => {
    const folders = new Set([...readdirSync(join(root, 'src')), 'architecture', 'simulation'])
    const astray = units.filter((file) => !folders.has(file.split('/')[0]!))
    expect(astray).toEqual([])
  })
})
