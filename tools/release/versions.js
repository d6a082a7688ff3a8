import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The folders of the packages beside the library. */
export const dependents = ['packages/opentelemetry', 'packages/receiver', 'packages/tools']

/**
 * @typedef {{
 *   readonly name: string
 *   readonly version: string
 *   readonly private?: boolean
 *   readonly homepage?: string
 *   readonly bugs?: string | { readonly url?: string }
 *   readonly repository?: string | { readonly url?: string }
 *   readonly dependencies?: Readonly<Record<string, string>>
 * }} Manifest
 */

/**
 * The package.json of a folder.
 * @param {URL} folder
 * @returns {Manifest}
 */
export function readManifest(folder) {
  return JSON.parse(readFileSync(new URL('package.json', folder), 'utf8'))
}

/**
 * Differences between the packages. They are released together, with the version in package.json of the library. The others depend on
 * that version or a later one.
 * @param {URL} root
 * @returns {string[]}
 */
export function versionProblems(root) {
  const library = readManifest(root)
  const others = dependents.map((folder) => ({ folder, manifest: readManifest(new URL(`${folder}/`, root)) }))
  const { version } = library
  const problems = []
  if (!/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(version))
    problems.push(`package.json: version ${version}: expected 1.2.3`)
  for (const { folder, manifest } of others) {
    if (manifest.version !== version) {
      problems.push(`${folder}/package.json: version ${manifest.version}: expected ${version}, that of package.json`)
    }
    const asked = manifest.dependencies?.[library.name]
    if (asked !== `^${version}`) {
      problems.push(`${folder}/package.json: it depends on ${library.name} ${asked}: expected ^${version}`)
    }
  }
  const { packages } = JSON.parse(readFileSync(new URL('package-lock.json', root), 'utf8'))
  for (const folder of ['', ...dependents]) {
    if (packages[folder]?.version === version) continue
    const where = `package-lock.json: version ${packages[folder]?.version} of packages["${folder}"]`
    problems.push(`${where}: expected ${version}; npm install --package-lock-only`)
  }
  for (const { folder, manifest } of [{ folder: '', manifest: library }, ...others]) {
    const file = join(folder, 'package.json')
    const { repository } = manifest
    const url = typeof repository === 'string' ? repository : repository?.url
    if (url === undefined)
      problems.push(
        `${file}: repository is missing, without which npm proves no provenance: npm pkg set 'repository.url=git+https://…'`,
      )
    for (const [field, example] of /** @type {const} */ ([
      ['homepage', 'homepage=https://…'],
      ['bugs', 'bugs.url=https://…'],
    ])) {
      if (manifest[field] !== undefined) continue
      const at = folder === '' ? '' : ` --workspace ${folder}`
      problems.push(`${file}: ${field} is missing: npm pkg set '${example}'${at}`)
    }
    if (manifest.private === true) problems.push(`${file}: private, so that npm will not publish it`)
  }
  return problems
}
