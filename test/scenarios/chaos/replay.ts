import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { chaosKey } from './chaos-server.js'

export interface Replayed {
  readonly code: number | null
  /** The counts of its summary. Undefined when it printed none. */
  readonly counts: { readonly records: number; readonly delivered: number; readonly damaged: number } | undefined
  /** Its output. */
  readonly said: string
}

/** Runs `sluice replay` on a folder, which delivers the records in it. */
export async function replay(folder: string, url: string): Promise<Replayed> {
  const program = join(import.meta.dirname, '../../../dist/cli.js')
  const child = spawn(process.execPath, [program, 'replay', folder, '--json'], {
    env: { PATH: process.env.PATH, SLUICE_URL: url, SLUICE_API_KEY: chaosKey },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  const counts = stdout === '' ? undefined : (JSON.parse(stdout) as Replayed['counts'])
  return { code: code as number | null, counts, said: `${stdout}${stderr}` }
}
