import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FrameworkExample } from '../support/framework-example.js'

let example: FrameworkExample
beforeAll(async () => {
  example = await FrameworkExample.install('jest')
})
afterAll(() => example.remove())

describe('the tests of the example jest, in CommonJS', () => {
  it('pass with @swc/jest', async () => {
    expect(await example.runScript('test')).toContain('1 passed')
  })

  it('pass with babel-jest, which jest brings', async () => {
    const { project } = example
    await project.install('@babel/preset-env@7', 'babel-plugin-transform-import-meta@2')
    const config = { transformIgnorePatterns: ['/node_modules/(?!(.pnpm/)?sluice)'] }
    project.write('jest.config.js', `module.exports = ${JSON.stringify(config)}`)
    const babel = {
      presets: [['@babel/preset-env', { targets: { node: 'current' } }]],
      plugins: ['babel-plugin-transform-import-meta'],
    }
    project.write('babel.config.js', `module.exports = ${JSON.stringify(babel)}`)
    expect(await example.runScript('test')).toContain('1 passed')
  })

  it.runIf(Number.parseInt(process.versions.node, 10) < 24)('cannot load Sluice untransformed', async () => {
    example.project.write('jest.config.js', 'module.exports = {}')
    await expect(example.runScript('test')).rejects.toThrow('Must use import to load ES Module')
  })
})
