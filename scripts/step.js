import { spawn } from 'node:child_process'

/**
 * Runs a command that takes long, and says on stderr what it does: on a terminal in one line with the seconds so far. What the command
 * prints on stderr follows, and what it prints on stdout where it fails.
 *
 * @param {string} title such as `Building`
 * @param {{ command: string, args: readonly string[], folder: string }} what
 * @returns {Promise<number>} its exit status
 */
export async function runStep(title, { command, args, folder }) {
  const { stderr } = process
  const startedAt = Date.now()
  const seconds = () => `${Math.round((Date.now() - startedAt) / 1000)} s`
  stderr.write(stderr.isTTY ? `${title} …` : `${title} …\n`)
  const timer = setInterval(() => stderr.isTTY && stderr.write(`\r${title} … ${seconds()}`), 1000)
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
  clearInterval(timer)
  if (stderr.isTTY) stderr.write(`\r${title}: ${seconds()}\x1b[K\n`)
  stderr.write(status === 0 ? said : `${output}${said}`)
  return status
}

/** The npm that runs this script, or that of the path. @param {readonly string[]} args */
export function npm(args) {
  const path = process.env.npm_execpath
  return path === undefined ? { command: 'npm', args } : { command: process.execPath, args: [path, ...args] }
}

/** The folder of the repository. */
export const root = new URL('../', import.meta.url)
