import { existsSync, readdirSync, readFileSync } from 'node:fs'

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
 * The folders of all packages, the library first: the others depend on it.
 * @param {URL} root
 * @returns {string[]}
 */
export function packageFolders(root) {
  const others = readdirSync(new URL('packages/', root)).sort()
  return [
    '',
    ...others.map((name) => `packages/${name}`).filter((folder) => existsSync(new URL(`${folder}/package.json`, root))),
  ]
}

/**
 * Differences between the packages. They are released together, with the version in package.json of the library. The others depend on
 * that version or a later one.
 * @param {URL} root
 * @returns {string[]}
 */
export function versionProblems(root) {
  const library = readManifest(root)
  const { version } = library
  const problems = []
  if (!/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(version))
    problems.push(`package.json: version ${version}: expected 1.2.3`)
  const { packages } = JSON.parse(readFileSync(new URL('package-lock.json', root), 'utf8'))
  for (const folder of packageFolders(root)) {
    const file = folder === '' ? 'package.json' : `${folder}/package.json`
    const manifest = folder === '' ? library : readManifest(new URL(`${folder}/`, root))
    const asked = manifest.dependencies?.[library.name]
    if (manifest.version !== version)
      problems.push(`${file}: version ${manifest.version}: expected ${version}, that of package.json`)
    if (folder !== '' && asked !== `^${version}`)
      problems.push(`${file}: it depends on ${library.name} ${asked}: expected ^${version}`)
    if (packages[folder]?.version !== version) {
      const where = `package-lock.json: version ${packages[folder]?.version} of packages["${folder}"]`
      problems.push(`${where}: expected ${version}; npm install --package-lock-only`)
    }
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
      const workspace = folder === '' ? '' : ` --workspace ${folder}`
      problems.push(`${file}: ${field} is missing: npm pkg set '${example}'${workspace}`)
    }
    if (manifest.private === true) problems.push(`${file}: private, so that npm will not publish it`)
  }
  return problems
}
