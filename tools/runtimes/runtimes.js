import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/**
 * @typedef {object} Runtime
 * @property {string} name as the README calls it
 * @property {string} version
 * @property {number} number what its records say in `runtime`
 * @property {readonly string[]} command runs a program that is put behind it
 * @property {readonly string[]} preload what makes it load `sluice/register` before the program
 * @property {readonly string[]} spool what makes it write files
 */

const installed = (/** @type {string} */ path) => fileURLToPath(new URL(`../node_modules/${path}`, import.meta.url))

const nodes = ['20', '22', '24', '26'].map((major) => ({
  name: `Node ${major}`,
  number: 1,
  command: [installed(`node-${major}/bin/node`)],
  preload: ['--import', 'sluice/register'],
  spool: [],
}))

const bun = {
  name: 'Bun',
  number: 2,
  command: [installed('@oven/bun-linux-x64/bin/bun')],
  preload: ['--preload', 'sluice/register'],
  spool: [],
}

// With the permissions that the README names, and no others.
const deno = {
  name: 'Deno',
  number: 3,
  command: [
    installed('@deno/linux-x64-glibc/deno'),
    ...['run', '--no-prompt', '--allow-net', '--allow-env', '--allow-read', '--allow-sys=hostname'],
  ],
  preload: ['--preload', './node_modules/sluice/dist/register.js'],
  spool: ['--allow-write'],
}

/** @type {readonly Runtime[]} */
export const runtimes = [...nodes, bun, deno].map((runtime) => ({ ...runtime, version: versionOf(runtime.command) }))

/** @param {readonly string[]} command */
function versionOf([program = '']) {
  const printed = execFileSync(program, ['--version'], { encoding: 'utf8' })
  return printed.match(/\d+\.\d+\.\d+/)?.[0] ?? ''
}
