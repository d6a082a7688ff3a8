import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { changelogOf, changelogProblems } from './release/changelog.js'
import { sbomOf } from './release/sbom.js'
import { packageFolders, readManifest, versionProblems } from './release/versions.js'
import { git, workingCopyProblems } from './release/working-copy.js'

// npm run release checks that the version in package.json can be released, and lists the steps. `-- --publish` runs them.
// The same command continues a release that was interrupted: it does not publish a package twice.
const root = new URL('../', import.meta.url)
const written = process.argv.slice(2)
const publishes = written.includes('--publish')
const unknown = written.find((argument) => argument !== '--publish')
if (unknown !== undefined) {
  process.stderr.write(`${unknown}: expected nothing, or --publish\n`)
  process.exit(2)
}

const { version } = readManifest(root)
const tag = `v${version}`
const published = ['--provenance', '--access', 'public', '--tag', version.includes('-') ? 'next' : 'latest']
const changelog = readFileSync(new URL('CHANGELOG.md', root), 'utf8')
/** Has the tarballs afterwards, and what is attached to the release. */
const folder = fileURLToPath(new URL('release/', root))

try {
  refuse([
    ...workingCopyProblems(root, tag),
    ...changelogProblems(changelog, { version, today: today() }).map((problem) => `CHANGELOG.md: ${problem}`),
    ...versionProblems(root),
  ])
  // Old output of deleted files would be published.
  const folders = packageFolders(root)
  for (const built of [...folders.map((name) => join(name, 'dist')), 'release'])
    rmSync(new URL(built, root), { recursive: true, force: true })
  run('npm', 'run', 'check')
  mkdirSync(folder)
  const packages = folders.map((name) => pack(name || '.'))
  const attached = packages.map((each, index) => writeSbom(each.name, [...packages.slice(0, Math.min(index, 1)), each]))
  if (publishes) publish(packages)
  else {
    const steps = packages.map(({ name }) => `npm publish ${name}@${version} ${published.join(' ')}`)
    const after = `gh release create ${tag} --verify-tag --notes-from-tag ${attached.join(' ')}, by the workflow Release`
    const all = [...steps, `git tag ${tag}, with what CHANGELOG.md says`, `git push origin ${tag}`, after]
    process.stdout.write(`\n${version} can be released. With --publish this would do it:\n  ${all.join('\n  ')}\n`)
  }
} catch (error) {
  process.stderr.write(`\n${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
}

/**
 * @typedef {{ readonly name: string, readonly tarball: string }} Packed
 */

/**
 * The tarball that will be published, with a word on what is in it.
 * @param {string} workspace
 * @returns {Packed}
 */
function pack(workspace) {
  const at = ['--workspace', workspace, '--ignore-scripts', '--pack-destination', folder]
  const [{ name, filename, size, unpackedSize, files }] = JSON.parse(
    capture('npm', 'pack', '--json', '--loglevel=error', ...at),
  )
  const paths = files.map((/** @type {{ path: string }} */ file) => file.path)
  const built = paths.filter((/** @type {string} */ path) => path.startsWith('dist/'))
  const others = paths.filter((/** @type {string} */ path) => !path.startsWith('dist/'))
  const list = [...others, `dist/ (${built.length} files)`].join(' ')
  process.stdout.write(`\n${filename}: ${size} bytes, ${unpackedSize} unpacked: ${list}\n`)
  return { name, tarball: join(folder, filename) }
}

/**
 * Writes what the package consists of, for the page of the release.
 * @param {string} name
 * @param {readonly Packed[]} packages the package and those of this release that it needs
 * @returns {string} the path of the file
 */
function writeSbom(name, packages) {
  const npm = (/** @type {string} */ at, /** @type {string[]} */ ...args) =>
    captureIn(at, 'npm', ...args, '--loglevel=error')
  const bom = sbomOf(name, { root, tarballs: packages.map(({ tarball }) => tarball), npm })
  const path = `release/${name}-${version}.cdx.json`
  writeFileSync(new URL(path, root), `${JSON.stringify(bom, null, 2)}\n`)
  process.stdout.write(`${path}: CycloneDX, ${bom.components.length} components\n`)
  return path
}

/** @param {readonly Packed[]} packages the library first: the others ask for it */
function publish(packages) {
  for (const { name, tarball } of packages) {
    if (isPublished(name)) process.stdout.write(`${name}@${version} is in the registry already\n`)
    else run('npm', 'publish', tarball, ...published)
  }
  if (git(root, 'tag', '--list', tag) === '') {
    git(
      root,
      'tag',
      '--annotate',
      tag,
      '--cleanup=verbatim',
      '--message',
      `${tag}\n\n${changelogOf(changelog, version)}\n`,
    )
  }
  git(root, 'push', '--quiet', 'origin', `refs/tags/${tag}`)
  process.stdout.write(`${version} is released.\n`)
}

/** @param {string} name */
function isPublished(name) {
  const { stdout } = spawnSync('npm', ['view', `${name}@${version}`, 'version', '--loglevel=error'], {
    encoding: 'utf8',
  })
  return stdout.trim() === version
}

/** @param {readonly string[]} problems */
function refuse(problems) {
  if (problems.length === 0) return
  throw new Error(`${version} cannot be released:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`)
}

/**
 * @param {string} command
 * @param {...string} args
 */
function run(command, ...args) {
  const { status } = spawnSync(command, args, { cwd: fileURLToPath(root), stdio: 'inherit' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed`)
}

/**
 * @param {string} command
 * @param {...string} args
 */
function capture(command, ...args) {
  return captureIn(fileURLToPath(root), command, ...args)
}

/**
 * @param {string} cwd
 * @param {string} command
 * @param {...string} args
 */
function captureIn(cwd, command, ...args) {
  const { status, stdout } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed`)
  return stdout
}

/** As the calendar on the wall says it. */
function today() {
  const now = new Date()
  const [month, day] = [now.getMonth() + 1, now.getDate()].map((number) => String(number).padStart(2, '0'))
  return `${now.getFullYear()}-${month}-${day}`
}
