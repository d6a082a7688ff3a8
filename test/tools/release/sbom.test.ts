import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { bundled, sbomOf } from '../../../tools/release/sbom.js'

const root = join(import.meta.dirname, '../../..')
const read = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'))

/** An answer of npm about a folder in which the library is installed. */
const answer = {
  metadata: { component: { 'bom-ref': 'nobody@0.0.0', name: 'nobody' } },
  components: [
    { 'bom-ref': 'split2@4.2.0', name: 'split2' },
    {
      'bom-ref': 'sluice-receiver@1.2.0',
      name: 'sluice-receiver',
      externalReferences: [{ type: 'distribution', url: 'file:/tmp/sluice-receiver-1.2.0.tgz' }],
    },
  ],
  dependencies: [
    { ref: 'nobody@0.0.0', dependsOn: ['sluice-receiver@1.2.0'] },
    { ref: 'sluice-receiver@1.2.0', dependsOn: ['split2@4.2.0'] },
    { ref: 'split2@4.2.0', dependsOn: [] },
  ],
}
const npm = (_folder: string, command = '') => (command === 'sbom' ? JSON.stringify(answer) : '')
const its = { root: new URL(`file://${root}/`), tarballs: [], npm }

describe('the SBOM of a release', () => {
  it('is of the package, and names what is bundled into it with the version, the licence and the hash that are installed', () => {
    const { metadata, components, dependencies } = sbomOf('sluice-receiver', its)
    expect(metadata.component).toEqual({
      'bom-ref': 'sluice-receiver@1.2.0',
      name: 'sluice-receiver',
      externalReferences: [],
    })
    const names = bundled['sluice-receiver']!
    const { version } = read('node_modules/preact/package.json')
    const integrity: string = read('package-lock.json').packages['node_modules/preact'].integrity
    expect(components.map(({ name }) => name)).toEqual(['split2', ...names])
    expect(components.at(-1)).toMatchObject({
      purl: `pkg:npm/preact@${version}`,
      licenses: [{ license: { id: 'MIT' } }],
      hashes: [{ alg: 'SHA-512', content: Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex') }],
    })
    expect(dependencies[0]).toMatchObject({ ref: 'sluice-receiver@1.2.0', dependsOn: { length: 1 + names.length } })
    expect(dependencies).toContainEqual({ ref: `preact@${version}`, dependsOn: [] })
  })

  it('is refused where npm does not know the package', () => {
    expect(() => sbomOf('sluice', its)).toThrow('npm sbom does not name sluice')
  })

  it.each([['sluice-receiver', 'packages/receiver/web/main.tsx', 'browser']] as const)(
    'knows what is bundled into %s',
    async (name, entry, platform) => {
      const { metafile } = await build({
        absWorkingDir: root,
        entryPoints: [entry],
        bundle: true,
        write: false,
        metafile: true,
        format: 'esm',
        platform,
        jsx: 'automatic',
        jsxImportSource: 'preact',
        outdir: 'out',
      })
      const packages = Object.keys(metafile.inputs).flatMap((path) => {
        const [, found] = /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules)/.exec(path) ?? []
        return found === undefined ? [] : [found]
      })
      expect([...new Set(packages)].sort()).toEqual([...bundled[name]!].sort())
    },
  )
})
