import type { Socket } from 'node:net'
import type { buildConnector } from 'undici'
import type { SimulatedThread } from '../simulated-thread.js'
import type { World } from '../world.js'
import { type Conditions, drawFate, type Fate, fineConditions } from './conditions.js'
import { Connection } from './connection.js'
import { connectTimeout, systemError } from './errors.js'
import { SimulatedSocket } from './simulated-socket.js'

/** A port that takes connections. */
export interface Listener {
  readonly accept: (socket: SimulatedSocket) => void
  readonly thread: SimulatedThread | undefined
  /** The port is open, and refuses. Mutable. */
  refuses: boolean
  close(): void
}

export interface NetworkOptions {
  /** Called with the name of each thing that happened, for the report of what was reached. @default nothing */
  readonly reached?: (name: string) => void
}

interface Target {
  readonly host: string
  readonly authority: string
}

/** Timers of a busy thread are late by up to this time. */
const timeoutPrecisionMs = 1000

/** A network between threads: names, ports, connections, and all that may happen to them. */
export class SimulatedNetwork {
  /** For connections that are opened from now on. A schedule changes it in time. */
  conditions: Conditions = fineConditions
  readonly #world: World
  readonly #reached: (name: string) => void
  readonly #listeners = new Map<string, Listener>()
  /** Hosts that the name server knows. */
  readonly #hosts = new Set<string>()
  readonly #connections = new Set<Connection>()
  readonly #ends = new Map<SimulatedSocket, Connection>()
  /** Sockets that nothing answers, and how to refuse them. */
  readonly #unanswered = new Map<SimulatedSocket, () => void>()
  readonly #known = new Map<SimulatedThread, Set<SimulatedSocket>>()
  readonly #dark = new Set<SimulatedThread>()
  #count = 0

  constructor(world: World, { reached = () => {} }: NetworkOptions = {}) {
    this.#world = world
    this.#reached = reached
  }

  /** Connections that were opened, those that failed included. */
  get count(): number {
    return this.#count
  }

  /** Sockets that the code of a thread has not closed. */
  socketsOf(thread: SimulatedThread): readonly SimulatedSocket[] {
    return [...(this.#known.get(thread) ?? [])]
  }

  /**
   * Take connections at `host:port`, in a thread or as a part of the world.
   *
   * @throws when the port is taken
   */
  listen(authority: string, accept: (socket: SimulatedSocket) => void, thread?: SimulatedThread): Listener {
    if (this.#listeners.has(authority)) throw systemError('EADDRINUSE', { syscall: 'listen', target: authority })
    const close = () => {
      if (this.#listeners.get(authority) === listener) this.#listeners.delete(authority)
    }
    const listener: Listener = { accept, thread, refuses: false, close }
    this.#listeners.set(authority, listener)
    this.#hosts.add(authority.slice(0, authority.lastIndexOf(':')))
    thread?.whenKilled(() => {
      if (!this.#dark.has(thread)) close()
    })
    return listener
  }

  /** Opens connections for the code of a thread: in place of undici's connector. */
  connector(
    thread: SimulatedThread,
    { connectTimeoutMs }: { readonly connectTimeoutMs: number },
  ): buildConnector.connector {
    return ({ hostname, port, protocol }, callback) => {
      const socket = this.#socket('client', thread)
      let waits = true
      socket.once('connect', () => {
        if (!waits) return
        waits = false
        callback(null, socket as unknown as Socket)
      })
      socket.on('error', (error) => {
        if (!waits) return
        waits = false
        callback(error, null)
      })
      const authority = `${hostname}:${port === '' ? (protocol === 'https:' ? 443 : 80) : port}`
      this.#dial(socket, { target: { host: hostname, authority }, connectTimeoutMs })
      return socket as unknown as undefined
    }
  }

  /** The machine of the thread loses its power: call it before the thread is killed. The others hear nothing. */
  losePower(thread: SimulatedThread): void {
    this.#dark.add(thread)
    for (const connection of this.#connections) if (connection.socketsOf(thread).length > 0) connection.silence()
  }

  /** A cable is pulled: nothing arrives any more on the connections that are open now. */
  blackOut(): void {
    for (const connection of this.#connections) connection.silence()
    this.#reached('network: black-out')
  }

  /** Every open connection is reset, as by a firewall that starts anew. */
  resetAll(): void {
    for (const connection of this.#connections) connection.reset()
    this.#reached('network: all reset')
  }

  /** All is well from now on. Connections on which nothing arrives are reset. */
  heal(): void {
    this.conditions = fineConditions
    for (const refuse of this.#unanswered.values()) refuse()
    for (const connection of this.#connections) connection.heal()
  }

  /** The end of the simulation: every socket is closed, and nobody is told. */
  close(): void {
    this.#listeners.clear()
    for (const connection of [...this.#connections]) {
      connection.silence()
      for (const socket of [connection.client, connection.server]) socket.destroy()
    }
  }

  #socket(side: 'client' | 'server', thread: SimulatedThread | undefined): SimulatedSocket {
    const random = this.#world.random(`${side} ${this.#count}`)
    const socket: SimulatedSocket = new SimulatedSocket({
      world: this.#world,
      thread,
      side,
      resetOvertakes: () => random() < this.conditions.resetOvertakes,
      closed: () => this.#closed(socket),
    })
    if (thread !== undefined) this.#own(thread, socket)
    return socket
  }

  #own(thread: SimulatedThread, socket: SimulatedSocket): void {
    let sockets = this.#known.get(thread)
    if (sockets === undefined) {
      const own = new Set<SimulatedSocket>()
      sockets = own
      this.#known.set(thread, own)
      thread.whenKilled(() => {
        for (const each of own) each.die()
      })
    }
    sockets.add(socket)
  }

  #closed(socket: SimulatedSocket): void {
    if (socket.thread !== undefined) this.#known.get(socket.thread)?.delete(socket)
    this.#unanswered.delete(socket)
    const connection = this.#ends.get(socket)
    this.#ends.delete(socket)
    if (connection === undefined) return
    const { client, server } = connection
    if (!this.#ends.has(client) && !this.#ends.has(server)) this.#connections.delete(connection)
  }

  #dial(
    socket: SimulatedSocket,
    { target, connectTimeoutMs }: { readonly target: Target; readonly connectTimeoutMs: number },
  ): void {
    const number = ++this.#count
    const random = this.#world.random(`connection ${number}`)
    const fate = drawFate(this.conditions, random)
    const { host, authority } = target
    const run = (task: () => void, delayMs: number) => this.#world.schedule(task, delayMs, socket.thread)
    const fail = (error: Error, name: string) => {
      timer.cancelled = true
      if (socket.destroyed) return
      this.#world.note(`connection ${number}: ${name}`)
      this.#reached(`network: ${name}`)
      socket.destroy(error)
    }
    const refused = () => fail(systemError('ECONNREFUSED', { syscall: 'connect', target: authority }), 'refused')
    const timer = run(
      () => fail(connectTimeout(authority, connectTimeoutMs), 'connect time-out'),
      connectTimeoutMs + timeoutPrecisionMs * random(),
    )
    socket.once('connect', () => {
      timer.cancelled = true
    })
    const { failure, latencyMs } = fate
    const code = failure === 'ENOTFOUND' || failure === 'EAI_AGAIN' ? failure : undefined
    if (code !== undefined || !this.#hosts.has(host)) {
      const name = code ?? 'ENOTFOUND'
      run(() => fail(systemError(name, { syscall: 'getaddrinfo', target: host }), name), latencyMs)
    } else if (failure === 'refused') run(refused, 2 * latencyMs)
    else if (failure === 'unanswered') this.#ignore(socket, refused)
    else this.#world.schedule(() => this.#knock(socket, { number, authority, fate, random, refused }), latencyMs)
  }

  #ignore(socket: SimulatedSocket, refused: () => void): void {
    this.#unanswered.set(socket, () => void this.#world.schedule(refused, 0, socket.thread))
  }

  /** The wish for a connection reaches the port. */
  #knock(
    client: SimulatedSocket,
    about: {
      readonly number: number
      readonly authority: string
      readonly fate: Fate
      readonly random: () => number
      readonly refused: () => void
    },
  ): void {
    const { number, authority, fate, random, refused } = about
    const listener = this.#listeners.get(authority)
    if (client.destroyed || client.thread?.alive === false) return
    if (listener?.thread !== undefined && this.#dark.has(listener.thread)) {
      this.#ignore(client, refused)
      return
    }
    if (listener === undefined || listener.refuses) {
      this.#world.schedule(refused, fate.latencyMs, client.thread)
      return
    }
    const server = this.#socket('server', listener.thread)
    server.localPort = client.remotePort = Number(authority.slice(authority.lastIndexOf(':') + 1))
    server.remotePort = client.localPort = 10_000 + (number % 50_000)
    const connection = new Connection({
      world: this.#world,
      name: `connection ${number}`,
      conditions: this.conditions,
      fate,
      random,
      client,
      server,
      reached: this.#reached,
    })
    this.#connections.add(connection)
    this.#ends.set(client, connection).set(server, connection)
    // Whatever its owner does: an error of a socket is no error of the simulation.
    server.on('error', () => {})
    const connectedAt = this.#world.now + fate.latencyMs
    connection.toClient.notBefore(connectedAt)
    server.wire({ incoming: connection.toServer, outgoing: connection.toClient })
    client.wire({ incoming: connection.toClient, outgoing: connection.toServer })
    this.#world.schedule(() => listener.accept(server), 0, listener.thread)
    this.#world.schedule(() => client.connected(), fate.latencyMs, client.thread)
  }
}
