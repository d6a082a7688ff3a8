import type pg from 'pg'
import { isTooSlow } from './database-errors.js'

interface Question {
  readonly sql: string
  readonly values: unknown[]
  /** Its connections ask. */
  readonly search: pg.Pool
  /** Its connections cancel. */
  readonly read: pg.Pool
}

/** Asks until the signal ends it. The caller learns of that at once, and the server, too. @throws the reason of the signal */
export async function queryUntil<Row extends pg.QueryResultRow>(
  signal: AbortSignal,
  question: Question,
): Promise<pg.QueryResult<Row>> {
  signal.throwIfAborted()
  let end = () => {}
  const ended = new Promise<never>((_, reject) => {
    end = () => reject(signal.reason)
    signal.addEventListener('abort', end)
  })
  try {
    return await Promise.race([cancelledQuery<Row>(signal, question), ended])
  } finally {
    signal.removeEventListener('abort', end)
  }
}

async function cancelledQuery<Row extends pg.QueryResultRow>(
  signal: AbortSignal,
  { sql, values, search, read }: Question,
): Promise<pg.QueryResult<Row>> {
  const client = await search.connect()
  let cancelling: Promise<unknown> | undefined
  const cancel = () => {
    cancelling = read.query('SELECT pg_cancel_backend($1)', [pidOf(client)]).catch(() => {})
  }
  signal.addEventListener('abort', cancel)
  let isBroken = false
  try {
    signal.throwIfAborted()
    return await client.query<Row>(sql, values)
  } catch (error) {
    isBroken = error !== signal.reason && !isTooSlow(error)
    throw error
  } finally {
    signal.removeEventListener('abort', cancel)
    // A cancellation that came later would end the next query of the connection.
    await cancelling
    client.release(isBroken)
  }
}

/** The number of the server's process for a connection. */
export function pidOf(client: pg.ClientBase): number | null {
  return (client as pg.ClientBase & { readonly processID: number | null }).processID
}
