import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { listenTo } from '../../../../test/support/programs.js'

/** The result of a run of `sluice-tools ship`. */
export interface ShipEnded {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: Buffer
  readonly stderr: string
}

/** A running `sluice-tools ship`, with a pipe to its stdin and from its stdout. */
export interface Shipping {
  readonly process: ChildProcessByStdio<Writable, Readable, Readable>
  readonly ended: Promise<ShipEnded>
  /** Resolves when its stderr contains these words. */
  said(words: string): Promise<void>
}

export interface ShipSetting {
  readonly variables: Record<string, string>
  /** True to leave stdout unread. @default false */
  readonly unread?: boolean
}

/** Starts `sluice-tools ship`. It is killed at the end of the test. */
export function startShip(written: readonly string[], { variables, unread = false }: ShipSetting): Shipping {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(SLUICE_|OTEL_|DD_|NODE_ENV|VITEST)/.test(name))
  const program = resolve(import.meta.dirname, '../../bin/sluice-tools.js')
  const child = spawn(process.execPath, [program, 'ship', ...written], {
    env: { ...Object.fromEntries(inherited), ...variables },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  child.stdin.on('error', () => {})
  const closed = new Promise<Pick<ShipEnded, 'code' | 'signal'>>((done) => {
    child.once(unread ? 'exit' : 'close', (code, signal) => done({ code, signal }))
  })
  const stdout = unread ? Promise.resolve(Buffer.alloc(0)) : buffer(child.stdout)
  const ended = Promise.all([stdout, text(child.stderr), closed])
  return {
    process: child,
    ended: ended.then(([stdout, stderr, end]) => ({ ...end, stdout, stderr })),
    said: listenTo(child.stderr),
  }
}

/** A folder that is removed after the test. */
export function folderHere(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-ship-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

/** A line as pino writes it. */
export function pinoText(message: string, time = 1_700_000_000_000): string {
  return `${JSON.stringify({ level: 30, time, pid: 1, hostname: 'elsewhere', msg: message })}\n`
}
