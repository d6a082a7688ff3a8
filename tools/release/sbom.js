import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * The packages that are bundled into the files of another. They are development dependencies, which no lock file of a user names.
 * @type {Readonly<Record<string, readonly string[]>>}
 */
export const bundled = {
  'sluice-receiver': ['@preact/signals', '@preact/signals-core', 'preact'],
}

/**
 * @typedef {{
 *   readonly name: string
 *   readonly version: string
 *   readonly purl: string
 *   readonly 'bom-ref': string
 *   readonly hashes?: readonly { readonly alg: string, readonly content: string }[]
 *   readonly externalReferences?: readonly { readonly type: string, readonly url: string }[]
 * }} Component
 * @typedef {{ ref: string, dependsOn: string[] }} Dependency
 * @typedef {{ metadata: { component: Component }, components: Component[], dependencies: Dependency[] }} Bom
 */

/**
 * The CycloneDX document of a package: its tarball, what npm installs with it on this day, and what is bundled into it.
 * @param {string} name
 * @param {object} its
 * @param {URL} its.root where the bundled packages are installed
 * @param {readonly string[]} its.tarballs of this release; the package may depend on the others
 * @param {(folder: string, ...args: string[]) => string} its.npm runs npm in a folder and returns its output
 * @returns {Bom}
 */
export function sbomOf(name, { root, tarballs, npm }) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-sbom-'))
  try {
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'nobody', version: '0.0.0', private: true }))
    npm(folder, 'install', '--package-lock-only', '--ignore-scripts', '--no-audit', ...tarballs)
    const asked = ['--package-lock-only', '--omit=dev', '--sbom-format=cyclonedx']
    return ofPackage(JSON.parse(npm(folder, 'sbom', ...asked)), name, root)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/**
 * npm describes the folder in which the packages are installed. A release describes one of them.
 * @param {Bom} bom
 * @param {string} name
 * @param {URL} root
 * @returns {Bom}
 */
function ofPackage(bom, name, root) {
  const own = bom.components.find((component) => component.name === name)
  if (own === undefined) throw new Error(`npm sbom does not name ${name}`)
  const components = bom.components.filter((component) => component !== own).map(withoutFolders)
  const dependencies = bom.dependencies.filter(({ ref }) => ref !== bom.metadata.component['bom-ref'])
  for (const [container, names] of Object.entries(bundled)) {
    const of = dependencies.find(({ ref }) => ref.startsWith(`${container}@`))
    for (const each of of === undefined ? [] : names) {
      const component = bundledComponent(each, root)
      const { 'bom-ref': ref } = component
      if (!components.some((known) => known['bom-ref'] === ref)) {
        components.push(component)
        dependencies.push({ ref, dependsOn: [] })
      }
      of?.dependsOn.push(ref)
    }
  }
  return { ...bom, metadata: { ...bom.metadata, component: withoutFolders(own) }, components, dependencies }
}

/**
 * @param {string} name
 * @param {URL} root
 */
function bundledComponent(name, root) {
  const read = (/** @type {string} */ path) => JSON.parse(readFileSync(new URL(path, root), 'utf8'))
  const { version, license } = read(`node_modules/${name}/package.json`)
  const [algorithm, content] = String(read('package-lock.json').packages[`node_modules/${name}`]?.integrity).split('-')
  const hash = algorithm === 'sha512' && content !== undefined && Buffer.from(content, 'base64').toString('hex')
  return {
    'bom-ref': `${name}@${version}`,
    type: 'library',
    name,
    version,
    scope: 'required',
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    properties: [{ name: 'cdx:npm:package:bundled', value: 'true' }],
    hashes: hash ? [{ alg: 'SHA-512', content: hash }] : [],
    licenses: [{ license: { id: license } }],
  }
}

/**
 * Where a tarball lay on this machine is of no use to others.
 * @param {Component} component
 * @returns {Component}
 */
function withoutFolders(component) {
  const { externalReferences = [] } = component
  return { ...component, externalReferences: externalReferences.filter(({ url }) => !url.startsWith('file:')) }
}
