import { execFile } from 'node:child_process'
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../', import.meta.url))
const programs = fileURLToPath(new URL('programs', import.meta.url))

/**
 * @typedef {object} Project
 * @property {string} folder an application that has installed the packed library and its tools
 * @property {Readonly<Record<'pino' | 'winston', string>>} versions what it has installed beside it
 */

/**
 * Pack the library and its tools as they would be published.
 *
 * @param {string} folder where to put the tarballs
 * @returns {Promise<string[]>} their paths
 */
export async function packLibrary(folder) {
  const workspaces = ['--workspace', '.', '--workspace', 'packages/tools']
  const written = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder, ...workspaces]
  const { stdout } = await run('npm', written, { cwd: root })
  return JSON.parse(stdout).map((/** @type {{ filename: string }} */ { filename }) => join(folder, filename))
}

/**
 * Make an application as a user would: a package.json, and the library and the loggers from npm.
 *
 * @param {{ folder: string, tarballs: string[], loggers: 'oldest' | 'newest' }} plan `loggers`: the oldest or the newest that the
 *   library's peer ranges allow
 * @returns {Promise<Project>}
 */
export async function makeProject({ folder, tarballs, loggers }) {
  const { peerDependencies } = await manifest(root)
  const wanted = Object.entries(peerDependencies).map(([name, range]) => `${name}@${endOf(range, loggers)}`)
  await mkdir(folder, { recursive: true })
  await cp(programs, folder, { recursive: true })
  await writeFile(
    join(folder, 'package.json'),
    '{ "name": "smoke", "version": "1.2.3", "private": true, "type": "module" }\n',
  )
  await run('npm', ['install', '--loglevel=error', '--no-audit', '--ignore-scripts', ...tarballs, ...wanted], {
    cwd: folder,
  })
  const version = async (/** @type {string} */ name) => (await manifest(join(folder, 'node_modules', name))).version
  return { folder, versions: { pino: await version('pino'), winston: await version('winston') } }
}

/**
 * @param {string} range such as `^9.0.0 || ^10.0.0`
 * @param {'oldest' | 'newest'} end
 */
function endOf(range, end) {
  const alternatives = range.split('||').map((alternative) => alternative.trim())
  return end === 'oldest' ? alternatives[0]?.replace('^', '') : alternatives.at(-1)
}

/**
 * @param {string} folder
 * @returns {Promise<{ version: string, peerDependencies: Record<string, string> }>}
 */
async function manifest(folder) {
  return JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
}
