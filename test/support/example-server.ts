import { readFileSync } from 'node:fs'
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http'
import { type AddressInfo, connect, createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished, vi } from 'vitest'
import { type Ended, type Running, startProgram } from './programs.js'

/** An answer of a server. */
export interface Answer {
  readonly status: number | undefined
  readonly body: string
}

/** A request whose head the server has taken, and whose body it waits for. */
export interface Underway {
  /** Send the body, and have the answer. */
  finish(): Promise<Answer>
  /** When the server has closed the connection without an answer. */
  readonly cutOff: Promise<void>
}

/** A program that listens on PORT, as its clients see it. It is killed at the end of the test. */
export class ExampleServer {
  readonly #port: number
  readonly #program: Running

  private constructor(port: number, program: Running) {
    this.#port = port
    this.#program = program
  }

  /** Start a program of examples/, and wait until it listens. */
  static start(file: string, variables: Record<string, string>): Promise<ExampleServer> {
    return ExampleServer.listening((PORT) =>
      startProgram(`../../examples/${file}`, { variables: { ...variables, PORT } }),
    )
  }

  /** Start a program with this PORT, and wait until it listens. */
  static async listening(start: (port: string) => Running): Promise<ExampleServer> {
    const port = await freePort()
    const program = start(String(port))
    onTestFinished(() => void program.process.kill('SIGKILL'))
    const early = program.ended.then(({ code, signal, stdout, stderr }) => {
      // A program may leave its server to others, as pm2 does.
      if (code !== 0) throw new Error(`it ended with ${code ?? signal}: ${stdout}${stderr}`)
    })
    early.catch(() => {})
    await Promise.race([untilListening(port), early.then(() => untilListening(port))])
    return new ExampleServer(port, program)
  }

  get ended(): Promise<Ended> {
    return this.#program.ended
  }

  /** Numbers of the processes that it has started, oldest first; Linux alone. */
  get children(): number[] {
    const { pid } = this.#program.process
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
    return children === '' ? [] : children.split(' ').map(Number)
  }

  /** Ask, on a connection that stays open as long as the server lets it. */
  async ask(method: string, path: string, body?: object): Promise<Answer> {
    const asked = this.#request(method, path, body === undefined ? {} : json)
    const answer = answerOf(asked)
    asked.end(body === undefined ? undefined : JSON.stringify(body))
    return answer
  }

  /** Begin an order. When this resolves the request is the server's. */
  async begin(order: object): Promise<Underway> {
    const body = JSON.stringify(order)
    const asked = this.#request('POST', '/orders', { ...json, 'content-length': body.length, expect: '100-continue' })
    const answer = answerOf(asked)
    const cutOff = answer.then(
      () => Promise.reject(new Error('answered')),
      () => {},
    )
    cutOff.catch(() => {})
    asked.flushHeaders()
    await new Promise((taken) => asked.once('continue', taken))
    return {
      cutOff,
      finish() {
        asked.end(body)
        return answer
      },
    }
  }

  /** Send a signal. */
  signal(signal: NodeJS.Signals): void {
    this.#program.process.kill(signal)
  }

  /** Send SIGTERM, or another signal, and wait until it refuses connections. */
  async terminate(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    this.signal(signal)
    await this.untilRefused()
  }

  /** Wait until it refuses connections. */
  async untilRefused(): Promise<void> {
    const refused = () => connection(this.#port).then(() => Promise.reject(new Error('it listens')), isRefused)
    await vi.waitFor(refused, { timeout: 30_000, interval: 5 })
  }

  #request(method: string, path: string, headers: Record<string, string | number>): ClientRequest {
    const agent = new Agent({ keepAlive: true })
    onTestFinished(() => agent.destroy())
    return request({ host: '127.0.0.1', port: this.#port, method, path, headers, agent })
  }
}

const json = { 'content-type': 'application/json' }

async function answerOf(asked: ClientRequest): Promise<Answer> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    asked.once('response', resolve).once('error', reject)
  })
  return { status: response.statusCode, body: await text(response) }
}

async function untilListening(port: number): Promise<void> {
  await vi.waitFor(() => connection(port), { timeout: 30_000, interval: 10 })
}

function connection(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve()
    }).once('error', reject)
  })
}

function isRefused(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ECONNREFUSED') throw error
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as AddressInfo
  await new Promise((closed) => server.close(closed))
  return port
}
