import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** Run a program of test/fixtures to its end, with these variables and no other `SLUICE_*` ones. */
export async function runProgram(name: string, variables: Record<string, string> = {}): Promise<Ended> {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(SLUICE_|OTEL_|DD_|NODE_ENV|VITEST)/.test(name))
  const child = spawn(process.execPath, [resolve(import.meta.dirname, '../fixtures', name)], {
    env: { ...Object.fromEntries(inherited), ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<Pick<Ended, 'code' | 'signal'>>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ code, signal }))
  })
  const [stdout, stderr, end] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  return { ...end, stdout, stderr }
}
