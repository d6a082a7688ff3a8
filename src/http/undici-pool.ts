import type { Duplex } from 'node:stream'
import type * as undici from 'undici'
import type { UsableConnection } from '../delivery/sender.js'
import { isError } from '../errors/is-error.js'
import type { Loop } from '../runtime/loop.js'
import { AnswerCollector, type Exchange } from './answer-collector.js'
import { type Claim, ConnectionSlots, type Holder } from './connection-slots.js'
import { type ConnectionOptions, holdingConnector, quietConnector, quietly } from './connector.js'
import { describeError } from './describe-error.js'
import { idleBelowMs } from './idle-times.js'
import { loadedUndici, loadUndici } from './load-undici.js'
import { endOf } from './wire.js'

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
  readonly loop: Loop
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
  /** It goes out on one of these. None is a new one for certain while other requests are under way. @default any that is open */
  readonly connection?: UsableConnection
  /** Called before it is written. False: it is not wanted any more. */
  readonly begin?: () => boolean
  /** Abandons the request. */
  readonly signal?: AbortSignal | undefined
}

/** Connections of undici to one service, perhaps through a proxy. Each has one request at a time. */
export class UndiciPool implements Holder {
  readonly #plan: UndiciPoolPlan
  readonly #slots: ConnectionSlots
  /** Undefined until undici is loaded. */
  #dispatcher: undici.Dispatcher | undefined
  readonly #sockets = new Set<Duplex>()
  /** The sockets that are connected. */
  readonly #connected = new WeakSet<Duplex>()
  /** Connections that wait for a slot, and how to give each of them up. */
  readonly #waiting = new Map<Claim, () => void>()
  #underWay = 0
  /** On the clock: when the last request ended. */
  #endedAt = 0
  #closed = false

  constructor(plan: UndiciPoolPlan) {
    this.#plan = plan
    this.#slots = plan.slots ?? new ConnectionSlots(plan.maxConnections, plan.loop)
    this.#slots.attend(this)
    const parts = loadedUndici()
    if (parts !== undefined) this.#dispatcher = this.#open(parts)
  }

  /** One attempt at a request. Never rejects. */
  exchange({ signal, body, begin, connection = 'any', ...request }: UndiciRequest): Promise<Exchange> {
    return new Promise((resolve) => {
      const { loop, requestTimeoutMs, maxBodyBytes, origin } = this.#plan
      const cancel = () => collector.cancel(new Error('aborted'))
      const collector = new AnswerCollector({
        loop,
        requestTimeoutMs,
        maxBodyBytes,
        begin,
        resolve: (exchange) => {
          signal?.removeEventListener('abort', cancel)
          this.#underWay--
          this.#endedAt = loop.now()
          resolve(exchange)
          if (this.#slots.short) while (this.giveWay());
          if (this.#slots.spare(this.#sockets.size) > 0) this.#startOver()
        },
      })
      // They may be lost without a sign.
      if (loop.now() - this.#endedAt >= idleBelowMs[connection]) while (this.giveWay());
      this.#underWay++
      signal?.addEventListener('abort', cancel)
      const dispatch = (dispatcher: undici.Dispatcher) => {
        try {
          dispatcher.dispatch({ origin, ...request, body: body ?? null }, collector)
        } catch (error) {
          fail(error)
        }
      }
      const fail = (error: unknown) =>
        collector.onResponseError(undefined, isError(error) ? error : new Error(describeError(error)))
      if (this.#dispatcher !== undefined) dispatch(this.#dispatcher)
      else void this.#load().then(dispatch, fail)
    })
  }

  async #load(): Promise<undici.Dispatcher> {
    const parts = await loadUndici()
    if (this.#closed) throw new Error(closedReason)
    this.#dispatcher ??= this.#open(parts)
    return this.#dispatcher
  }

  /** The next requests go out on new connections. Each of the present ones ends with the request on it. */
  #startOver(): void {
    const former = this.#dispatcher
    this.#dispatcher = undefined
    void former?.close().catch(() => {})
  }

  /**
   * Undici does not show which connections are in use, so none is ended while one is. One that is being made is not idle, and undici would wait
   * for it for ever: it hears of its end by an error alone.
   */
  giveWay(): boolean {
    const socket = [...this.#sockets].find((each) => this.#connected.has(each))
    if (this.#underWay > 0 || socket === undefined) return false
    this.#sockets.delete(socket)
    socket.destroy()
    return true
  }

  /** Wait for the answers under way, then release every connection. */
  async close(): Promise<void> {
    if (this.#dispatcher === undefined && this.#underWay > 0) await this.#load().catch(() => {})
    await this.#dispatcher?.close().catch(() => {})
    this.#dialNoMore()
  }

  /** Release every connection. Requests under way break. */
  async destroy(): Promise<void> {
    const destroyed = this.#dispatcher?.destroy().catch(() => {})
    this.#dialNoMore()
    await destroyed
  }

  /** A connection that is being made, or waits for a slot, is of no use any more. */
  #dialNoMore(): void {
    this.#closed = true
    for (const giveUp of [...this.#waiting.values()]) giveUp()
    for (const socket of this.#sockets) socket.destroy(new Error(closedReason))
  }

  #open({ Pool, ProxyAgent }: typeof undici): undici.Dispatcher {
    const { origin, maxConnections, requestTimeoutMs, connection, proxyUrl, holdsProcess = false } = this.#plan
    const settings = {
      connections: maxConnections,
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveMaxTimeout: idleBelowMs.any,
    }
    const straight = { connectTimeoutMs: requestTimeoutMs, ...connection }
    if (proxyUrl === undefined) {
      const connect = holdsProcess ? holdingConnector(straight) : quietConnector(straight)
      return keeping(new Pool(origin, { ...settings, connect: this.#counted(connect) }))
    }
    const proxy = new URL(proxyUrl).origin
    const open = (target: string | URL, given: object) => {
      const { connect } = given as { connect: Connector }
      const held = holdsProcess ? connect : quietly(connect)
      // The connection to the proxy is counted, a tunnel through it is not.
      const counted = new URL(target).origin === proxy ? this.#counted(held) : held
      return keeping(new Pool(target, { ...settings, connect: counted }))
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
    const { holdsProcess = false, loop, requestTimeoutMs } = this.#plan
    return (target, callback) => {
      const refuse = () => callback(new Error(closedReason), null)
      if (this.#closed) {
        loop.soon(refuse)
        return
      }
      // No socket keeps the process alive before there is a connection.
      const hold = holdsProcess ? loop.schedule(() => {}, 2 * requestTimeoutMs, true) : undefined
      const claim: Claim = {
        granted: () => {
          this.#waiting.delete(claim)
          hold?.cancel()
          const socket = connect(target, (...result) => {
            if (result[0] === null) this.#connected.add(socket)
            callback(...result)
          }) as unknown as Duplex
          this.#sockets.add(socket)
          socket.once('close', () => {
            this.#sockets.delete(socket)
            this.#slots.closed(endOf(socket))
          })
        },
      }
      this.#waiting.set(claim, () => {
        this.#waiting.delete(claim)
        this.#slots.withdraw(claim)
        hold?.cancel()
        refuse()
      })
      this.#slots.claim(claim)
    }
  }
}

/**
 * A pool that keeps a client which could not connect. Undici takes it out of the pool, and gives it the next waiting request all the same:
 * its connection then belongs to no pool, and takes its slot until the server closes it.
 */
function keeping(pool: undici.Pool): undici.Pool {
  return pool.removeAllListeners('connectionError')
}

const closedReason = 'the sender has been closed'
