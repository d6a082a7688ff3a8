import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { expect } from 'vitest'

export const cli = join(import.meta.dirname, '../bin/sluice-receiver.js')
/** Node 22 warns of its own SQLite on stderr. */
export const quiet = '--disable-warning=ExperimentalWarning'
const running = new Set<ChildProcess>()

/** Starts a receiver as a child process. */
export function start(...args: string[]) {
  return startWith({}, ...args)
}

/** Starts a receiver with variables. */
export function startWith(variables: Record<string, string>, ...args: string[]) {
  return started(
    spawn(process.execPath, [quiet, cli, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...variables },
    }),
  )
}

/** Starts a receiver by a command of the shell in which `"$@"` is the receiver, and waits until it is ready. */
export function readyBy(command: string, ...args: string[]) {
  const all = ['-c', command, 'sh', process.execPath, quiet, cli, '--json', '--port', '0', ...args]
  return isReady(started(spawn('sh', all, { stdio: ['ignore', 'pipe', 'pipe'] })))
}

function started<Child extends ChildProcess>(child: Child) {
  running.add(child)
  const exit = once(child, 'exit') as Promise<[number | null, string | null]>
  return { child, exit }
}

/** Starts a receiver and waits until it is ready. */
export async function ready(...args: string[]) {
  return readyWith({}, ...args)
}

/** Starts a receiver with variables and waits until it is ready. */
export async function readyWith(variables: Record<string, string>, ...args: string[]) {
  return isReady(startWith(variables, '--json', '--port', '0', ...args))
}

async function isReady({ child, exit }: ReturnType<typeof startWith>) {
  const lines: string[] = []
  const reader = createInterface({ input: child.stdout })
  reader.on('line', (line) => lines.push(line))
  await once(reader, 'line')
  return {
    child,
    exit,
    lines,
    ...(JSON.parse(lines[0]!) as {
      url: string
      project: string
      apiKey: string | null
      page: string
    }),
  }
}

/** Ends the processes that still run. */
export async function killAll(): Promise<void> {
  await Promise.all([...running].map(end))
  running.clear()
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGKILL')
  await exit
}

/** Starts a receiver that must fail, and gives its stderr. */
export async function failure(...args: string[]): Promise<string> {
  return endsWith(1, args)
}

/** Runs a command line that is wrong, and gives the receiver's stderr. */
export async function refusal(...args: string[]): Promise<string> {
  return endsWith(2, args)
}

async function endsWith(status: number, args: readonly string[]): Promise<string> {
  const { child, exit } = start(...args)
  const [stderr, [code]] = await Promise.all([text(child.stderr), exit])
  expect(code).toBe(status)
  return stderr
}
