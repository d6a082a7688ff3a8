import { spawn } from 'node:child_process'

/**
 * How a command ended, or several.
 * @typedef {object} Outcome
 * @property {number} status the exit status
 * @property {string} said what is to be read: stderr, and where it failed stdout, too
 */

/**
 * Does what takes long, and says on stderr what it does: on a terminal in one line with the seconds so far. What is to be read follows.
 *
 * @param {string} title such as `Building`
 * @param {() => Promise<Outcome>} work
 * @returns {Promise<number>} the exit status
 */
export async function runStep(title, work) {
  const { stderr } = process
  const startedAt = Date.now()
  const seconds = () => `${Math.round((Date.now() - startedAt) / 1000)} s`
  stderr.write(stderr.isTTY ? `${title} …` : `${title} …\n`)
  const timer = setInterval(() => stderr.isTTY && stderr.write(`\r${title} … ${seconds()}`), 1000)
  const { status, said } = await work()
  clearInterval(timer)
  if (stderr.isTTY) stderr.write(`\r${title}: ${seconds()}\x1b[K\n`)
  stderr.write(said)
  return status
}

/**
 * Runs a command to its end.
 *
 * @param {{ command: string, args: readonly string[], folder: string }} what
 * @returns {Promise<Outcome>}
 */
export async function run({ command, args, folder }) {
  const child = spawn(command, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    said += text
  })
  const status = await new Promise((resolve) => {
    child.once('error', ({ message }) => {
      said += `${message}\n`
      resolve(1)
    })
    child.once('close', (code) => resolve(code ?? 1))
  })
  return { status, said: status === 0 ? said : `${output}${said}` }
}

/** The npm that runs this script, or that of the path. @param {readonly string[]} args */
export function npm(args) {
  const path = process.env.npm_execpath
  return path === undefined ? { command: 'npm', args } : { command: process.execPath, args: [path, ...args] }
}

/** The folder of the repository. */
export const root = new URL('../', import.meta.url)
