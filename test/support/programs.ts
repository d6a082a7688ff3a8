import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** The longest time for the end of a program that there is, for busy machines. */
export const ampleTime = { SLUICE_SHUTDOWN_TIMEOUT_MS: '8000' }
/** An end within this many milliseconds has not waited for `ampleTime`. */
export const atOnceMs = 7500

/** A running program. */
export interface Running {
  readonly process: ChildProcessByStdio<null, Readable, Readable>
  readonly ended: Promise<Ended>
}

export interface StartOptions {
  readonly arguments?: readonly string[]
  /** The only `SLUICE_*` variables that it gets. */
  readonly variables?: Record<string, string>
  /** Options of Node.js. */
  readonly flags?: readonly string[]
  /** Commands of a shell that run before it, such as `ulimit -f 8`. */
  readonly before?: string
}

/** Runs a program of test/fixtures to its end, with these variables and no other `SLUICE_*` ones. */
export function runProgram(name: string, variables: Record<string, string> = {}): Promise<Ended> {
  return startProgram(name, { variables }).ended
}

/** Starts a program of test/fixtures. */
export function startProgram(name: string, options: StartOptions = {}): Running {
  const { arguments: own = [], variables = {}, flags = [], before } = options
  const inherited = Object.entries(process.env).filter(([name]) => !/^(SLUICE_|OTEL_|DD_|NODE_ENV|VITEST)/.test(name))
  const line = [process.execPath, ...flags, resolve(import.meta.dirname, '../fixtures', name), ...own]
  const [command = '', ...rest] = before === undefined ? line : ['/bin/sh', '-c', `${before}; exec "$0" "$@"`, ...line]
  const child = spawn(command, rest, {
    env: { ...Object.fromEntries(inherited), ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return runningOf(child)
}

/** A process that has just been started. */
export function runningOf(child: Running['process']): Running {
  const closed = new Promise<Pick<Ended, 'code' | 'signal'>>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ code, signal }))
  })
  const ended = Promise.all([text(child.stdout), text(child.stderr), closed])
  return { process: child, ended: ended.then(([stdout, stderr, end]) => ({ ...end, stdout, stderr })) }
}

/** Hear all that a program prints from now on. The function resolves when it has printed these words. */
export function listenTo(stream: Readable): (words: string) => Promise<void> {
  let heard = ''
  const waiting = new Set<() => void>()
  stream.on('data', (piece) => {
    heard += piece
    for (const look of waiting) look()
  })
  return (words) =>
    new Promise((done) => {
      const look = () => {
        if (!heard.includes(words)) return
        waiting.delete(look)
        done()
      }
      waiting.add(look)
      look()
    })
}
