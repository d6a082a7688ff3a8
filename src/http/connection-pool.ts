import type { Socket } from 'node:net'
import type { buildConnector } from 'undici'
import type { Clock } from '../delivery/clock.js'
import { describeError } from './describe-error.js'
import { type ConnectionOwner, PipelinedConnection, type PipelineWatch } from './pipelined-connection.js'
import type { Transmission } from './transmission.js'

export interface ConnectionPoolPlan {
  readonly base: URL
  readonly connect: buildConnector.connector
  readonly maxConnections: number
  readonly requestTimeoutMs: number
  readonly clock: Clock
  readonly watch: PipelineWatch
}

/** Connections to one server, kept for the next batch. A batch that finds none free waits for the first that is. */
export class ConnectionPool implements ConnectionOwner {
  readonly #plan: ConnectionPoolPlan
  readonly #open = new Set<PipelinedConnection>()
  /** The latest last: it stays warm, and the others may go idle. */
  readonly #idle: PipelinedConnection[] = []
  readonly #dialling = new Set<Socket>()
  readonly #waiting: Transmission[] = []
  /** After so many answers the server closes its connections, as far as is known: nothing beyond is written, for it would be in vain. */
  #lifespan = Number.POSITIVE_INFINITY
  #closed = false

  constructor(plan: ConnectionPoolPlan) {
    this.#plan = plan
  }

  carry(transmission: Transmission): void {
    if (this.#closed) {
      transmission.breakOff({ reason: closedReason })
      return
    }
    for (let connection = this.#idle.pop(); connection !== undefined; connection = this.#idle.pop()) {
      if (!connection.stale) {
        connection.carry(transmission)
        return
      }
      connection.end('idle')
    }
    this.#waiting.push(transmission)
    this.#dial()
  }

  allowance(served: number): number {
    // One that lives longer shows that it was no rule.
    if (served >= this.#lifespan) this.#lifespan = Number.POSITIVE_INFINITY
    return this.#lifespan - served
  }

  free(connection: PipelinedConnection): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#idle.push(connection)
    else connection.carry(next)
  }

  lost(connection: PipelinedConnection): void {
    this.#open.delete(connection)
    const index = this.#idle.indexOf(connection)
    if (index !== -1) this.#idle.splice(index, 1)
    if (connection.announced) this.#lifespan = connection.served
    this.#dial()
  }

  close(): void {
    this.#closed = true
    for (const socket of this.#dialling) socket.destroy()
    for (const connection of [...this.#open]) connection.end(closedReason)
    for (const transmission of this.#waiting.splice(0)) transmission.breakOff({ reason: closedReason })
  }

  #dial(): void {
    const { maxConnections, base, connect } = this.#plan
    while (
      !this.#closed &&
      this.#dialling.size < this.#waiting.length &&
      this.#dialling.size + this.#open.size < maxConnections
    ) {
      const { host, hostname, protocol, port } = base
      let waits = true
      const settle = (error: Error | null, connected: Socket | null) => {
        if (!waits) return
        waits = false
        this.#dialling.delete(socket)
        if (connected === null) this.#failed(error)
        else this.#connected(connected)
      }
      const target = { host, hostname: hostname.replace(/^\[|\]$/g, ''), protocol, port }
      const socket = connect(target, (...[error, connected]) => settle(error, connected)) as unknown as Socket
      this.#dialling.add(socket)
      // A socket that is destroyed while it connects says nothing else.
      socket.once('close', () => settle(null, null))
    }
  }

  #connected(socket: Socket): void {
    if (this.#closed) {
      socket.destroy()
      return
    }
    const { clock, requestTimeoutMs, watch } = this.#plan
    const connection = new PipelinedConnection({ socket, clock, requestTimeoutMs, watch, owner: this })
    this.#open.add(connection)
    this.free(connection)
  }

  #failed(error: Error | null): void {
    const reason = error === null ? 'the connection closed before it was made' : describeError(error)
    this.#waiting.shift()?.breakOff({ reason })
    this.#dial()
  }
}

const closedReason = 'the sender has been closed'
