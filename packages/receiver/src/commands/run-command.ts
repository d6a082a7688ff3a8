import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { counted } from '../../../../src/errors/counted.js'
import { reasonOf } from '../../../../src/errors/text-of.js'
import { scopes } from '../keys/scopes.js'
import { outliveReaders, say } from '../stderr.js'
import { type OpenedPlace, type OpenedReceiver, openReceiver } from './opened-receiver.js'
import { commandAt, placeOf } from './place.js'

export interface RunCommand extends OpenedPlace {
  readonly quiet: boolean
  /** The receiver outlives the program. */
  readonly stay: boolean
  /** The program and its arguments. */
  readonly program: readonly string[]
}

/** Signals that a program may want to hear. */
const forwarded = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR2'] as const
/** A terminal sends these to all processes of its foreground itself. */
const fromTerminal: ReadonlySet<NodeJS.Signals> = new Set(['SIGINT', 'SIGQUIT', 'SIGHUP'])
/** Signals that end the receiver, too. With Ctrl-C a person may mean the program alone. */
const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** Statuses of a shell for a program that it cannot start. */
const statuses = { notFound: 127, notRunnable: 126, signal: 128 } as const

/**
 * Runs a program whose records go to a receiver: one that is started for it, or the one that runs on the data folder. Ends as the program
 * does, once its records are stored; with `stay` after a signal.
 */
export async function runProgram(command: RunCommand): Promise<void> {
  outliveReaders()
  const receiver = await openReceiver(command, { name: 'run', scopes })
  if (!command.quiet) greet(receiver)
  const [name = '', ...args] = command.program
  const child = spawn(name, args, { stdio: 'inherit', env: { ...process.env, ...variablesFor(receiver) } })
  const forwarding = forwardSignals(child)
  const ended = await endOf(child)
  if (command.stay && ended.type !== 'failed' && !receiver.isJoined && !forwarding.isOver())
    await stay(command, receiver)
  // The program has ended, with a status that counts.
  const stored = ended.type === 'failed' ? undefined : await recordsIn(receiver).catch(() => undefined)
  await receiver.close().catch((error) => say(`run: the receiver did not end well: ${reasonOf(error)}`))
  forwarding.stop()
  if (!command.quiet && stored !== undefined) say(farewell(stored, { command, receiver }))
  endLike(ended, name)
}

/** Resolves with a signal. */
async function stay(command: RunCommand, { url }: OpenedReceiver): Promise<void> {
  const over = new Promise<void>((resolve) => {
    for (const signal of endings) process.once(signal, () => resolve())
  })
  const page = `${commandAt(command, ' page')} prints an address that opens its page`
  if (!command.quiet) say(`the program has ended; the receiver stays at ${url} until Ctrl-C; ${page}`)
  await over
}

/** The number of records of all projects. Undefined where the program sends them to another service. */
async function recordsIn({ url, apiKey }: OpenedReceiver): Promise<number | undefined> {
  const { SLUICE_URL: other } = process.env
  if (other !== undefined && other !== url) return undefined
  const totalOf = async (path: string) => {
    const answer = await fetch(`${url}/api/${path}`, { headers: { 'x-api-key': apiKey } })
    return (await answer.json()) as { readonly total: number; readonly list: readonly { readonly id: string }[] }
  }
  let records = 0
  for (const { id } of (await totalOf('projects?to=1000')).list) {
    for (const kind of ['logs', 'values']) records += (await totalOf(`${kind}/${id}?limit=1`)).total
  }
  return records
}

/** The last words: where the records are now, and what shows them. */
function farewell(
  records: number,
  { command, receiver }: { readonly command: RunCommand; readonly receiver: OpenedReceiver },
): string {
  const [are, them] = records === 1 ? ['is', 'it'] : ['are', 'them']
  if (command.data === ':memory:' && command.database === undefined) {
    return `${counted(records, 'record')} ${records === 1 ? 'was' : 'were'} in memory, and ${are} gone; without --data :memory: they stay`
  }
  const where = `${counted(records, 'record')} ${are} in ${placeOf(command)}`
  if (records === 0) return `${where}; the program has sent none: npx sluice doctor looks for the reason`
  return `${where}; \`${commandAt(command, receiver.isJoined ? ' page' : '')}\` shows ${them}`
}

function greet({ url, page }: OpenedReceiver): void {
  const { SLUICE_URL: other } = process.env
  if (other !== undefined && other !== url) say(`SLUICE_URL is set: records go to ${other}, and not to ${url}`)
  say(`see the records arrive (the address opens one browser): ${page}`)
}

/** What the program gets, unless its variables say it. */
function variablesFor({ url, project, apiKey }: OpenedReceiver): Record<string, string> {
  const { env } = process
  const keyIsSet = env.SLUICE_API_KEY !== undefined || env.SLUICE_API_KEY_FILE !== undefined
  return {
    SLUICE_URL: env.SLUICE_URL ?? url,
    SLUICE_BUCKET: env.SLUICE_BUCKET ?? project,
    ...(keyIsSet ? {} : { SLUICE_API_KEY: apiKey }),
  }
}

interface Forwarding {
  stop(): void
  /** A signal has come that ends the receiver, too. */
  isOver(): boolean
}

/** The program hears the signals that this process gets, and decides what they mean. A second SIGINT ends it. */
function forwardSignals(child: ChildProcess): Forwarding {
  const hasTerminal = [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY)
  let interrupts = 0
  let isOver = false
  const listeners = forwarded.map((signal) => {
    const listener = () => {
      if (signal === 'SIGTERM' || signal === 'SIGHUP') isOver = true
      if (signal === 'SIGINT' && ++interrupts > 1) child.kill('SIGKILL')
      else if (!(hasTerminal && fromTerminal.has(signal))) child.kill(signal)
    }
    process.on(signal, listener)
    return [signal, listener] as const
  })
  return {
    isOver: () => isOver,
    stop() {
      for (const [signal, listener] of listeners) process.off(signal, listener)
    },
  }
}

type End =
  | { readonly type: 'status'; readonly status: number }
  | { readonly type: 'signal'; readonly signal: NodeJS.Signals }
  | { readonly type: 'failed'; readonly error: NodeJS.ErrnoException }

async function endOf(child: ChildProcess): Promise<End> {
  try {
    const [status, signal] = (await once(child, 'exit')) as [number, NodeJS.Signals | null]
    return signal === null ? { type: 'status', status } : { type: 'signal', signal }
  } catch (error) {
    return { type: 'failed', error: error as NodeJS.ErrnoException }
  }
}

function endLike(end: End, name: string): void {
  if (end.type === 'status') process.exitCode = end.status
  else if (end.type === 'signal') {
    // A process that survives its signal, such as PID 1 of a container, ends as a shell does.
    process.exitCode = statuses.signal + constants.signals[end.signal]
    process.kill(process.pid, end.signal)
  } else if (end.error.code === 'ENOENT') {
    say(`run: there is no program ${name}`)
    process.exitCode = statuses.notFound
  } else {
    say(`run: ${name} cannot be started: ${end.error.message}`)
    process.exitCode = statuses.notRunnable
  }
}
