import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { chaosKey } from './chaos-server.js'

/** Runs `sluice replay` on a folder, which delivers the records in it. */
export async function replay(folder: string, url: string): Promise<{ code: number | null; stderr: string }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../../bin/sluice.js'), 'replay', folder], {
    env: { PATH: process.env.PATH, SLUICE_URL: url, SLUICE_API_KEY: chaosKey },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'close')])
  return { code: code as number | null, stderr }
}
