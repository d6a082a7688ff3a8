import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { reasonOf } from '../../../../src/errors/text-of.js'
import { idOfKey } from '../keys/keys.js'
import { scopes } from '../keys/scopes.js'
import { type Options, optionTable } from '../options/option-table.js'
import { type Receiver, startReceiver } from '../receiver.js'
import type { ReceiverError } from '../receiver-error.js'
import { outliveReaders, say } from '../stderr.js'
import { joinReceiver, revokeKeyOf } from './joined-receiver.js'
import type { StoreCommand } from './store-command.js'

export interface RunCommand extends Pick<Options, 'host' | 'data' | 'database' | 'events' | 'retain'> {
  /** Undefined: the usual port, or a free one where that is taken. */
  readonly port: number | undefined
  readonly quiet: boolean
  /** The program and its arguments. */
  readonly program: readonly string[]
}

/** What a program needs to send its records. */
interface Target {
  readonly url: string
  readonly project: string
  readonly apiKey: string
  readonly page: string
  /** Take back what was made for the program. */
  close(): Promise<void>
}

/** Signals that a program may want to hear. */
const forwarded = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR2'] as const
/** A terminal sends these to all processes of its foreground itself. */
const fromTerminal: ReadonlySet<NodeJS.Signals> = new Set(['SIGINT', 'SIGQUIT', 'SIGHUP'])
/** Statuses of a shell for a program that it cannot start. */
const statuses = { notFound: 127, notRunnable: 126, signal: 128 } as const

/**
 * Runs a program whose records go to a receiver: one that is started for it, or the one that runs on the data folder. Ends as the program
 * does, once its records are stored.
 */
export async function runProgram(command: RunCommand): Promise<void> {
  outliveReaders()
  const target = await targetFor(command)
  if (!command.quiet) greet(target)
  const [name = '', ...args] = command.program
  const child = spawn(name, args, { stdio: 'inherit', env: { ...process.env, ...variablesFor(target) } })
  const stopForwarding = forwardSignals(child)
  const ended = await endOf(child)
  // The program has ended, with a status that counts.
  await target.close().catch((error) => say(`run: the receiver did not end well: ${reasonOf(error)}`))
  stopForwarding()
  endLike(ended, name)
}

async function targetFor(command: RunCommand): Promise<Target> {
  const receiver = await started(command)
  if (receiver === undefined) return await joinReceiver(storeOf(command), { name: 'run', scopes })
  const apiKey = receiver.apiKey!
  return {
    ...receiver,
    apiKey,
    async close() {
      await receiver.close()
      if (command.data !== ':memory:') await revokeKeyOf(storeOf(command), idOfKey(apiKey))
    },
  }
}

/** Starts a receiver, with a key. Undefined where one runs on the data folder. */
async function started(command: RunCommand): Promise<Receiver | undefined> {
  const { host, data, database, events, retain } = command
  const options = { host, data, database, events, retain, newKey: true }
  try {
    return await startReceiver({ ...options, port: command.port ?? optionTable.port.default })
  } catch (error) {
    const { code } = error as Partial<ReceiverError>
    if (code === 'DATA_IN_USE') return undefined
    if (code !== 'PORT_TAKEN' || command.port !== undefined) throw error
    return await startReceiver({ ...options, port: 0 })
  }
}

function storeOf({ data, database }: RunCommand): StoreCommand {
  return { data, database, json: false }
}

function greet({ url, page }: Target): void {
  const { SLUICE_URL: other } = process.env
  if (other !== undefined && other !== url) say(`SLUICE_URL is set: records go to ${other}, and not to ${url}`)
  say(`see the records arrive (the address opens one browser): ${page}`)
}

/** What the program gets, unless its variables say it. */
function variablesFor({ url, project, apiKey }: Target): Record<string, string> {
  const { env } = process
  const keyIsSet = env.SLUICE_API_KEY !== undefined || env.SLUICE_API_KEY_FILE !== undefined
  return {
    SLUICE_URL: env.SLUICE_URL ?? url,
    SLUICE_BUCKET: env.SLUICE_BUCKET ?? project,
    ...(keyIsSet ? {} : { SLUICE_API_KEY: apiKey }),
  }
}

/** The program hears the signals that this process gets, and decides what they mean. A second SIGINT ends it. */
function forwardSignals(child: ChildProcess): () => void {
  const hasTerminal = [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY)
  let interrupts = 0
  const listeners = forwarded.map((signal) => {
    const listener = () => {
      if (signal === 'SIGINT' && ++interrupts > 1) child.kill('SIGKILL')
      else if (!(hasTerminal && fromTerminal.has(signal))) child.kill(signal)
    }
    process.on(signal, listener)
    return [signal, listener] as const
  })
  return () => {
    for (const [signal, listener] of listeners) process.off(signal, listener)
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
