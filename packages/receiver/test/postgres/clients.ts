import { setTimeout } from 'node:timers/promises'
import { log } from '../support.js'
import { queryOf } from './server.js'

/** Requests of one client at the same time. */
const inFlight = 8
/** A client that was refused comes again after this time, in ms. Retry-After says 1 s, and would only make the tests slower. */
const pauseMs = 50
const answerMs = 30_000
const repeatedEach = 10

/** Clients that send records over HTTP until each is acknowledged. An attempt that fails is repeated with its key at the next receiver. */
export class Clients {
  /** URLs of the receivers. A test may change them meanwhile. */
  readonly receivers: string[]
  readonly #apiKey: string
  /** The ledger: keys of the records that were acknowledged. */
  readonly acknowledged = new Set<string>()
  /** Answers with 503, by receiver. */
  readonly refusals = new Map<string, number>()
  readonly #changed = new Set<() => void>()

  constructor({ receivers, apiKey }: { receivers: readonly string[]; apiKey: string }) {
    this.receivers = [...receivers]
    this.#apiKey = apiKey
  }

  /** Several clients send so many records each. Resolves when all are acknowledged. */
  async send({ clients, records }: { clients: number; records: number }): Promise<void> {
    const lanes = Array.from({ length: clients }, (_, client) => {
      let next = 0
      const choice = { turn: client }
      return Array.from({ length: inFlight }, async () => {
        while (next < records) {
          const number = next++
          const key = `${client}-${number}`
          // Some records come twice, at the same time: as from a client that has not waited long enough.
          const again = number % repeatedEach === 0 ? this.attempt(key, this.#receiver(choice.turn + 1)) : undefined
          await Promise.all([this.#deliver(key, choice), again])
        }
      })
    })
    await Promise.all(lanes.flat())
  }

  /** Resolves when the condition holds; it is checked after each answer. */
  async until(condition: () => boolean): Promise<void> {
    if (condition()) return
    await new Promise<void>((resolve) => {
      const check = () => {
        if (!condition()) return
        this.#changed.delete(check)
        resolve()
      }
      this.#changed.add(check)
    })
  }

  /** Sends one record once. Returns the status, or undefined for a connection that broke. */
  async attempt(key: string, receiver: string): Promise<number | undefined> {
    const status = await this.#post(key, receiver)
    if (status === 201) this.acknowledged.add(key)
    if (status === 503) this.refusals.set(receiver, (this.refusals.get(receiver) ?? 0) + 1)
    for (const check of [...this.#changed]) check()
    return status
  }

  /** The client stays with a receiver until an attempt fails there. */
  async #deliver(key: string, choice: { turn: number }): Promise<void> {
    for (;;) {
      const { turn } = choice
      if ((await this.attempt(key, this.#receiver(turn))) === 201) return
      if (choice.turn === turn) choice.turn++
      await setTimeout(pauseMs)
    }
  }

  #receiver(turn: number): string {
    return this.receivers[turn % this.receivers.length]!
  }

  async #post(key: string, receiver: string): Promise<number | undefined> {
    let response: Response
    try {
      response = await fetch(`${receiver}/logs/demo`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': this.#apiKey, 'idempotency-key': key },
        body: JSON.stringify({ ...log, message: key }),
        signal: AbortSignal.timeout(answerMs),
      })
      await response.arrayBuffer()
    } catch {
      return undefined
    }
    const { status, headers } = response
    const isExpected = status === 201 || (status === 503 && headers.get('retry-after') !== null)
    if (!isExpected) throw new Error(`${key} was answered with ${status}`)
    return status
  }
}

/** The keys of all records in the database, in order. */
export async function storedKeys(url: string): Promise<string[]> {
  const rows = await queryOf<{ key: string }>(url, `SELECT record::json ->> 'message' AS key FROM sluice_records`)
  return rows.map(({ key }) => key).sort()
}
