import { expect } from 'vitest'
import { ExampleServer } from './example-server.js'
import type { FrameworkExample } from './framework-example.js'
import { gateTo } from './gate.js'
import { ampleTime, type Ended } from './programs.js'
import { startTestReceiver } from './receiver.js'

export interface CourseOptions {
  /** The script of package.json that starts the server. @default 'start' */
  readonly script?: string
  /** Number of orders. @default 20 */
  readonly orders?: number
  readonly signal?: NodeJS.Signals
  /**
   * True where the server stops to listen at the signal, and answers the last order, which is under way; false where it listens until the
   * process ends.
   * @default true
   */
  readonly stopsListening?: boolean
  /** Orders are placed once a delivery has reached the service: before it, pino's worker may not have loaded Sluice. @default false */
  readonly afterDelivery?: boolean
  /** Give Sluice's variables to the program by a file `.env` alone. @default false */
  readonly byFile?: boolean
  /** Paths of pages that a browser asks for before the orders. @default none */
  readonly pages?: readonly string[]
}

/** The marks that the life of a server has left. */
export interface Course {
  readonly ended: Ended
  /** `orderId` of each line `order placed` that arrived, sorted. */
  readonly orders: readonly number[]
  /** Texts of the other lines, without fields and addresses, and how often each arrived. */
  readonly others: Readonly<Record<string, number>>
  /** Numbers of the events that arrived. */
  readonly events: readonly number[]
}

/**
 * The life of a server: it listens on PORT, takes orders by `POST /orders`, logs `order placed` with `orderId` for each, and gets a signal
 * while the service has taken nothing yet. Only then the service begins to take records.
 */
export async function serveOrders(example: FrameworkExample, options: CourseOptions = {}): Promise<Course> {
  const {
    script = 'start',
    orders = 20,
    signal = 'SIGTERM',
    stopsListening = true,
    afterDelivery = false,
    byFile = false,
    pages = [],
  } = options
  const receiver = await startTestReceiver()
  try {
    const gate = await gateTo(receiver.url)
    const variables = { ...receiver.variables, ...ampleTime, SLUICE_URL: gate.url }
    if (byFile) writeVariables(example, variables)
    const given = byFile ? {} : variables
    const server = await ExampleServer.listening((PORT) => example.start(script, { ...given, PORT }))
    if (afterDelivery) await gate.reached
    for (const page of pages) expect(await server.ask('GET', page)).toMatchObject({ status: 200 })
    await placeOrders(server, { from: 1, to: stopsListening ? orders - 1 : orders })
    if (stopsListening) await endWithinRequest(server, { id: orders, signal, open: () => gate.open() })
    else {
      server.signal(signal)
      gate.open()
    }
    const ended = await server.ended
    const lines = (await receiver.logs()).map(({ message }) => message)
    return { ended, ...sorted(lines), events: (await receiver.values()).map(({ eventId }) => eventId) }
  } finally {
    await receiver.close()
  }
}

interface LastOrder {
  readonly id: number
  readonly signal: NodeJS.Signals
  readonly open: () => void
}

/** The last order is under way at the signal. It is answered after the service has begun to take records. */
async function endWithinRequest(server: ExampleServer, { id, signal, open }: LastOrder): Promise<void> {
  const last = await server.begin({ id })
  await server.terminate(signal)
  open()
  expect(await last.finish()).toMatchObject({ status: 201 })
}

/** Write variables to the file `.env` of an example. */
export function writeVariables({ project }: FrameworkExample, variables: Readonly<Record<string, string>>): void {
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`)
  project.write('.env', lines.join(''))
}

/** Place orders with these numbers, one after another. */
export async function placeOrders(server: ExampleServer, { from, to }: { from: number; to: number }): Promise<void> {
  for (let id = from; id <= to; id++) {
    const { status, body } = await server.ask('POST', '/orders', { id })
    if (status !== 201 || JSON.parse(body).id !== id) throw new Error(`order ${id}: ${status} ${body}`)
  }
}

/** The lines of orders by their number, and the counts of others by their text. */
export function sorted(lines: readonly string[]): Pick<Course, 'orders' | 'others'> {
  const orders: number[] = []
  const others: Record<string, number> = {}
  for (const line of lines) {
    const orderId = /^order placed .*"orderId":(\d+)/.exec(line)?.[1]
    const text = line.replace(/ \{.*/s, '').replace(/ at http:.*/, '')
    if (orderId !== undefined) orders.push(Number(orderId))
    else others[text] = (others[text] ?? 0) + 1
  }
  return { orders: orders.sort((a, b) => a - b), others }
}

/** Whole numbers from 1. */
export function upTo(last: number): number[] {
  return Array.from({ length: last }, (_, index) => index + 1)
}
