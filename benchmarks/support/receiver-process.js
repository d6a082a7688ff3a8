import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const receiver = fileURLToPath(new URL('../../packages/receiver/bin/sluice-receiver.js', import.meta.url))

/**
 * Start a program that prints one line of JSON when it is ready, by default the receiver.
 *
 * @param {readonly string[]} args
 * @param {string} [program]
 */
export async function startReceiverProcess(args, program = receiver) {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(child.stdout, 'data')
  const { url, apiKey, project, page } = JSON.parse(String(line))
  const stop = async () => {
    child.kill()
    await once(child, 'exit')
  }
  return { url, apiKey, bucket: project, page, stop }
}
