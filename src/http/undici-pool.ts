import type { Duplex } from 'node:stream'
import type * as undici from 'undici'
// @ts-expect-error undici describes the types of its whole alone
import connectMethod from 'undici/lib/api/api-connect.js'
// @ts-expect-error
import dispatcher from 'undici/lib/dispatcher/dispatcher.js'
// @ts-expect-error
import pool from 'undici/lib/dispatcher/pool.js'
// @ts-expect-error
import proxyAgent from 'undici/lib/dispatcher/proxy-agent.js'
import type { Clock } from '../runtime/clock.js'
import { AnswerCollector, type Exchange } from './answer-collector.js'
import { ConnectionSlots, type Holder } from './connection-slots.js'
import { type ConnectionOptions, quietConnector, quietly, sessionKeeping } from './connector.js'
import { describeError } from './describe-error.js'

/**
 * Parts of undici from their own files. So package.json holds undici to patches of one minor version.
 *
 * The index of undici reads `globalThis.Headers`. Then Node loads its own undici, and compiles WebAssembly in the background. A worker that
 * ends meanwhile can end the process with SIGSEGV, as a core dump of Node 20.20 shows: one in some 4,000 workers that had just started. The
 * index also costs 9 MB more, and 60 to 110 ms of CPU at each start.
 */
const Pool: typeof undici.Pool = pool
const ProxyAgent: typeof undici.ProxyAgent = proxyAgent

// The index does it, too. It asks a proxy for a tunnel.
dispatcher.prototype.connect = connectMethod

type Connector = undici.buildConnector.connector

export interface UndiciPoolPlan {
  /** Scheme, host and port of the service. */
  readonly origin: string
  /** May be shared with another sender. @default `maxConnections` of its own */
  readonly slots?: ConnectionSlots
  readonly maxConnections: number
  /** Time for the connection, and then for the whole answer. */
  readonly requestTimeoutMs: number
  /** A longer body is not read further. */
  readonly maxBodyBytes: number
  readonly clock: Clock
  readonly connection?: ConnectionOptions
  /** Requests go through a tunnel where the service or the proxy has `https:`, otherwise as they are. */
  readonly proxyUrl?: string | undefined
  /** True: connections with requests keep the process alive. @default false */
  readonly holdsProcess?: boolean
}

export interface UndiciRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
  /** Abandons the request. */
  readonly signal?: AbortSignal | undefined
}

/** Connections of undici to one service, perhaps through a proxy. Each has one request at a time. */
export class UndiciPool implements Holder {
  readonly #plan: UndiciPoolPlan
  readonly #slots: ConnectionSlots
  readonly #dispatcher: undici.Dispatcher
  readonly #sockets = new Set<Duplex>()
  #underWay = 0

  constructor(plan: UndiciPoolPlan) {
    this.#plan = plan
    this.#slots = plan.slots ?? new ConnectionSlots(plan.maxConnections, plan.clock)
    this.#slots.attend(this)
    this.#dispatcher = this.#open()
  }

  /** One attempt at a request. Never rejects. */
  exchange({ signal, body, ...request }: UndiciRequest): Promise<Exchange> {
    return new Promise((resolve) => {
      const { clock, requestTimeoutMs, maxBodyBytes, origin } = this.#plan
      const cancel = () => collector.cancel(new Error('aborted'))
      const collector = new AnswerCollector({
        clock,
        requestTimeoutMs,
        maxBodyBytes,
        resolve: (exchange) => {
          signal?.removeEventListener('abort', cancel)
          this.#underWay--
          resolve(exchange)
          if (this.#slots.short) while (this.giveWay());
        },
      })
      this.#underWay++
      signal?.addEventListener('abort', cancel)
      try {
        this.#dispatcher.dispatch({ origin, ...request, body: body ?? null }, collector)
      } catch (error) {
        collector.onResponseError(undefined, error instanceof Error ? error : new Error(describeError(error)))
      }
    })
  }

  /** Undici does not show which connections are in use, so none is ended while one is. */
  giveWay(): boolean {
    const [socket] = this.#sockets
    if (this.#underWay > 0 || socket === undefined) return false
    this.#sockets.delete(socket)
    socket.destroy()
    return true
  }

  /** Wait for the answers under way, then release every connection. */
  async close(): Promise<void> {
    await this.#dispatcher.close().catch(() => {})
  }

  /** Release every connection. Requests under way break. */
  async destroy(): Promise<void> {
    await this.#dispatcher.destroy().catch(() => {})
  }

  #open(): undici.Dispatcher {
    const { origin, maxConnections, requestTimeoutMs, connection, proxyUrl, holdsProcess = false } = this.#plan
    const settings = { connections: maxConnections, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 }
    const straight = { connectTimeoutMs: requestTimeoutMs, ...connection }
    if (proxyUrl === undefined) {
      const connect = holdsProcess ? sessionKeeping(straight) : quietConnector(straight)
      return new Pool(origin, { ...settings, connect: this.#counted(connect) })
    }
    const proxy = new URL(proxyUrl).origin
    const open = (target: string | URL, given: object) => {
      const { connect } = given as { connect: Connector }
      const held = holdsProcess ? connect : quietly(connect)
      // The connection to the proxy is counted, a tunnel through it is not.
      return new Pool(target, { ...settings, connect: new URL(target).origin === proxy ? this.#counted(held) : held })
    }
    return new ProxyAgent({
      uri: proxyUrl,
      proxyTunnel: false,
      clientFactory: open,
      factory: open,
      requestTls: { timeout: requestTimeoutMs, ...connection },
      proxyTls: { timeout: requestTimeoutMs },
    })
  }

  /** A connector that waits for a slot. */
  #counted(connect: Connector): Connector {
    const { holdsProcess = false, clock, requestTimeoutMs } = this.#plan
    return (target, callback) => {
      // No socket keeps the process alive before there is a connection.
      const hold = holdsProcess ? clock.schedule(() => {}, 2 * requestTimeoutMs, true) : undefined
      const granted = () => {
        hold?.cancel()
        const socket = connect(target, callback) as unknown as Duplex
        this.#sockets.add(socket)
        socket.once('close', () => this.#sockets.delete(socket))
        this.#slots.hold(socket)
      }
      this.#slots.claim({ granted })
    }
  }
}
