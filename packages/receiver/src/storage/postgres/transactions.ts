import type pg from 'pg'
import { StoreUnavailableError } from '../store-unavailable.js'
import { isTransient } from './database-errors.js'
import type { Servers } from './servers.js'

/** A transaction that fails because of another transaction is tried this number of times. */
const attempts = 5

type Work<Result> = (client: pg.ClientBase) => Promise<Result>

interface Running {
  /** The statement that begins the transaction. */
  readonly begin: string
  readonly signal: AbortSignal
}

/** Writes to the database. A transaction counts as done only when its commit is durable: on disk, and on the standbys that it must wait for. */
export class Transactions {
  readonly #servers: Servers
  readonly #deadlineMs: number

  /** @param deadlineMs a transaction that is not durable after this time fails */
  constructor(servers: Servers, { deadlineMs }: { readonly deadlineMs: number }) {
    this.#servers = servers
    this.#deadlineMs = deadlineMs
  }

  /**
   * Runs the work in a transaction. The work may run several times.
   *
   * @param lockMs time that it waits for a row that another transaction has locked. @default the one of the connection
   * @throws {StoreUnavailableError} if the commit is not known to be durable. It may have happened.
   */
  run<Result>(work: Work<Result>, { lockMs }: { readonly lockMs?: number } = {}): Promise<Result> {
    const begin = lockMs === undefined ? 'BEGIN' : `BEGIN; SET LOCAL lock_timeout = ${lockMs}`
    return this.#within((signal) => this.#run(work, { begin, signal }))
  }

  async #run<Result>(work: Work<Result>, running: Running): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#once(work, running)
      } catch (error) {
        if (isTransient(error) && attempt < attempts && !running.signal.aborted) continue
        throw this.#servers.failed(error)
      }
    }
  }

  async #once<Result>(work: Work<Result>, { begin, signal }: Running): Promise<Result> {
    const client = await this.#servers.connect()
    if (signal.aborted) {
      client.release()
      throw new StoreUnavailableError('the transaction took too long')
    }
    const warnings: string[] = []
    // A message of the server that is no error.
    const notice = ({ code, message }: { code?: string | undefined; message?: string | undefined }) => {
      if (code === '01000') warnings.push(message ?? code)
    }
    let isHeld = true
    const release = (error?: Error) => {
      if (isHeld) client.off('notice', notice).release(error)
      isHeld = false
    }
    // A server that does not answer before the commit is left.
    const leave = () => {
      if (!isHeld) return
      client.connection.stream.destroy()
      release(new Error('the transaction took too long'))
    }
    client.on('notice', notice)
    signal.addEventListener('abort', leave)
    try {
      await client.query(begin)
      const result = await work(client)
      signal.removeEventListener('abort', leave)
      warnings.length = 0
      await this.#commit(client, leave)
      // A cancelled wait for a standby resolves as success, with a warning.
      if (warnings.length > 0) throw new StoreUnavailableError(`the commit may not be durable: ${warnings.join('; ')}`)
      release()
      return result
    } catch (error) {
      if (signal.aborted) leave()
      else signal.addEventListener('abort', leave)
      if (isHeld) {
        const failure = await client.query('ROLLBACK').then(
          () => undefined,
          (reason: Error) => reason,
        )
        release(failure)
      }
      throw error
    }
  }

  /** The server may wait for a standby without end. Its connection is left only when the server has nothing to do there: the answer was lost. */
  async #commit(client: pg.ClientBase, leave: () => void): Promise<void> {
    const look = async () => {
      if (!(await this.#servers.worksFor(client))) leave()
    }
    const timer = setInterval(() => void look(), this.#deadlineMs).unref()
    try {
      await client.query('COMMIT')
    } finally {
      clearInterval(timer)
    }
  }

  async #within<Result>(run: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const ending = new AbortController()
    let timer: NodeJS.Timeout | undefined
    const deadline = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        ending.abort()
        this.#servers.suspect()
        const { name } = this.#servers
        reject(new StoreUnavailableError(`the database ${name} has not committed within ${this.#deadlineMs} ms`))
      }, this.#deadlineMs)
    })
    try {
      return await Promise.race([run(ending.signal), deadline])
    } finally {
      clearTimeout(timer)
    }
  }
}
