import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import pg from 'pg'
import { asOwner, binary } from './installation.js'

/** Settings of PostgreSQL, as in its `postgresql.conf`. */
export type Settings = Readonly<Record<string, string | number>>

const usual: Settings = {
  listen_addresses: '127.0.0.1',
  // Tests kill processes, never the machine: what is written stays.
  fsync: 'off',
  full_page_writes: 'off',
  shared_buffers: '32MB',
  // Nothing stays in /dev/shm after SIGKILL.
  dynamic_shared_memory_type: 'mmap',
  lc_messages: 'C',
  hot_standby: 'on',
  wal_retrieve_retry_interval: '100ms',
}
const isReady = /database system is ready to accept (read-only )?connections/

const running = new Set<Server>()

/** One PostgreSQL with its data folder. It can be killed, frozen and started again, on the same port. */
export class Server {
  readonly folder: string
  readonly port: number
  readonly #settings: Settings
  #postmaster: ChildProcess | undefined
  #log: string[] = []

  private constructor({ folder, port, settings }: { folder: string; port: number; settings: Settings }) {
    this.folder = folder
    this.port = port
    this.#settings = settings
  }

  /** Starts it on a folder that has data. */
  static async start(folder: string, settings: Settings): Promise<Server> {
    const server = new Server({ folder, port: await freePort(), settings })
    running.add(server)
    await server.#start()
    return server
  }

  /** Of the database that each server has. */
  get url(): string {
    return this.urlOf('postgres')
  }

  urlOf(database: string): string {
    return `postgres://postgres@127.0.0.1:${this.port}/${database}`
  }

  /** Sends one statement over a connection of its own. */
  async query<Row extends pg.QueryResultRow>(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    return queryOf<Row>(this.url, sql, values)
  }

  /** Signals all its processes. After SIGKILL all have ended when this resolves. */
  async kill(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    const postmaster = this.#postmaster!
    // A postmaster that is stopped starts no new child.
    if (signal !== 'SIGCONT') postmaster.kill('SIGSTOP')
    const children = childrenOf(postmaster.pid!)
    for (const child of children) send(child, signal)
    if (signal === 'SIGSTOP') return
    const ended = once(postmaster, 'exit')
    postmaster.kill(signal)
    if (signal === 'SIGCONT') return
    await ended
    while (children.some(isAlive)) await new Promise((resolve) => setImmediate(resolve))
  }

  /** Starts it again; before that, ends it if it runs. */
  async restart(): Promise<void> {
    await this.#end()
    await this.#start()
  }

  /** Ends it and removes its data. */
  async stop(): Promise<void> {
    await this.#end()
    this.#remove()
  }

  /** Ends it when there is no time to wait. */
  abandon(): void {
    if (this.#isRunning) {
      const pid = this.#postmaster!.pid!
      for (const each of [...childrenOf(pid), pid]) send(each, 'SIGKILL')
    }
    this.#remove()
  }

  get #isRunning(): boolean {
    return this.#postmaster !== undefined && this.#postmaster.exitCode === null && this.#postmaster.signalCode === null
  }

  #remove(): void {
    running.delete(this)
    removeSharedMemory(this.folder)
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 })
  }

  async #start(): Promise<void> {
    const settings = { ...usual, port: this.port, unix_socket_directories: this.folder, ...this.#settings }
    const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const child = spawn(binary('postgres'), ['-D', this.folder, ...args], {
      ...asOwner,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    this.#postmaster = child
    this.#log = []
    await new Promise<void>((resolve, reject) => {
      createInterface({ input: child.stderr! }).on('line', (line) => {
        this.#log.push(line)
        if (isReady.test(line)) resolve()
      })
      child.once('error', reject)
      child.once('exit', () => reject(new Error(`PostgreSQL ended:\n${this.#log.slice(-20).join('\n')}`)))
    })
  }

  /** Immediate, as after a crash, but PostgreSQL cleans up. A stopped process acts on the signal once it continues. */
  async #end(): Promise<void> {
    if (!this.#isRunning) return
    const postmaster = this.#postmaster!
    const ended = once(postmaster, 'exit')
    postmaster.kill('SIGQUIT')
    await this.kill('SIGCONT')
    await ended
  }
}

/** Ends all servers and removes their data: for the end of a test file. */
export async function stopServers(): Promise<void> {
  await Promise.all([...running].map((server) => server.stop()))
}
process.once('exit', () => {
  for (const server of running) server.abandon()
})

/** Sends one statement over a connection of its own. */
export async function queryOf<Row extends pg.QueryResultRow>(
  url: string,
  sql: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query<Row>(sql, [...values])).rows
  } finally {
    await client.end()
  }
}

/** A port that no outgoing connection takes while the server is down. Those of Linux begin at 32768. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000)
    const server = createServer().listen(port, '127.0.0.1')
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    if (!isFree) continue
    server.close()
    await once(server, 'close')
    return port
  }
}

/** Empty for a process that has ended. */
function childrenOf(pid: number): number[] {
  return readIfThere(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number)
}

/** The process may have ended meanwhile. */
function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** False also for a process that has ended and that nobody has waited for. */
function isAlive(pid: number): boolean {
  return /^State:\s+[^ZX\s]/m.test(readIfThere(`/proc/${pid}/status`))
}

/** After SIGKILL a small segment stays, which guards the folder. */
function removeSharedMemory(folder: string): void {
  const id = readIfThere(join(folder, 'postmaster.pid')).split('\n')[6]?.trim().split(/\s+/)[1]
  if (id !== undefined) spawnSync('ipcrm', ['-m', id], { stdio: 'ignore' })
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
