import type { RecordKind } from '../records/wire.js'
import type { Loop } from '../runtime/loop.js'
import type { ConnectionLife, PipelineWatch } from './connection-life.js'
import type { Claim, ConnectionSlots, Holder } from './connection-slots.js'
import { describeError } from './describe-error.js'
import { idleBelowMs } from './idle-times.js'
import { type ConnectionOwner, PipelinedConnection } from './pipelined-connection.js'
import { givenUpReason } from './settlement.js'
import type { Transmission } from './transmission.js'
import type { Dial, Wire } from './wire.js'

export interface ConnectionPoolPlan {
  readonly kind: RecordKind
  readonly dial: Dial
  /** Shared with other senders to the same server. */
  readonly slots: ConnectionSlots
  /** Shared by the lanes. */
  readonly life: ConnectionLife
  readonly requestTimeoutMs: number
  readonly loop: Loop
  readonly watch: PipelineWatch
}

/** Connections to one server, kept for the next batch. A batch waits for the first free connection, or for the first new one. */
export class ConnectionPool implements ConnectionOwner, Holder {
  readonly #plan: ConnectionPoolPlan
  readonly #open = new Set<PipelinedConnection>()
  /** The last one was used last. It is used again, so that the others can end. */
  readonly #idle: PipelinedConnection[] = []
  /** Connections that have ended and are not yet closed. */
  readonly #leaving = new Set<PipelinedConnection>()
  readonly #dialling = new Set<Wire>()
  readonly #claims = new Set<Claim>()
  readonly #waiting: Transmission[] = []
  #closed = false

  constructor(plan: ConnectionPoolPlan) {
    this.#plan = plan
    plan.slots.attend(this)
  }

  carry(transmission: Transmission): void {
    if (this.#closed) {
      transmission.breakOff({ reason: closedReason })
      return
    }
    const { batch } = transmission
    for (let connection = this.#idle.pop(); connection !== undefined; connection = this.#idle.pop()) {
      if (!connection.stale && connection.idleMs < idleBelowMs[batch.connection]) {
        if (connection.idleMs >= idleBelowMs.lively) batch.woken()
        batch.begin()
        connection.carry(transmission)
        return
      }
      // No server may be there to take part in the end.
      connection.destroy('idle')
    }
    this.#waiting.push(transmission)
    this.#dial()
  }

  free(connection: PipelinedConnection, isNew = false): void {
    if (this.#plan.slots.spare(1) > 0) {
      connection.end('idle')
      return
    }
    const next = this.#nextFor({ isNew })
    if (next !== undefined) connection.carry(next)
    else if (this.#plan.slots.short) connection.end('idle')
    else this.#idle.push(connection)
  }

  /** The first batch that waits for such a connection, and has not been given up meanwhile. */
  #nextFor({ isNew }: { readonly isNew: boolean }): Transmission | undefined {
    for (;;) {
      const index = this.#waiting.findIndex(({ batch }) => isNew || batch.connection !== 'new')
      const [next] = index === -1 ? [] : this.#waiting.splice(index, 1)
      if (next === undefined || next.batch.begin()) return next
      next.breakOff({ reason: givenUpReason })
    }
  }

  lost(connection: PipelinedConnection): void {
    this.#open.delete(connection)
    this.#leaving.add(connection)
    const index = this.#idle.indexOf(connection)
    if (index !== -1) this.#idle.splice(index, 1)
    this.#dial()
  }

  giveWay(): boolean {
    const connection = this.#idle.shift()
    connection?.end('idle')
    return connection !== undefined
  }

  close(): void {
    this.#closed = true
    for (const claim of this.#claims) this.#plan.slots.withdraw(claim)
    for (const wire of this.#dialling) wire.destroy()
    for (const connection of [...this.#open, ...this.#leaving]) connection.destroy(closedReason)
    for (const transmission of this.#waiting.splice(0)) transmission.breakOff({ reason: closedReason })
  }

  #dial(): void {
    while (!this.#closed && this.#claims.size + this.#dialling.size < this.#waiting.length) {
      const claim: Claim = {
        granted: () => {
          this.#claims.delete(claim)
          // A connection may have become free meanwhile.
          if (this.#dialling.size < this.#waiting.length) this.#connect()
          else this.#plan.slots.release()
        },
      }
      this.#claims.add(claim)
      this.#plan.slots.claim(claim)
    }
  }

  #connect(): void {
    const { slots, dial } = this.#plan
    let connection: PipelinedConnection | undefined
    const wire = dial({
      opened: () => {
        this.#dialling.delete(wire)
        if (this.#closed) wire.destroy()
        else {
          connection = this.#connectionOn(wire)
          this.#open.add(connection)
          this.free(connection, true)
        }
      },
      received: (bytes) => connection?.received(bytes),
      flushed: () => connection?.flushed(),
      ended: () => connection?.ended(),
      closed: (end) => {
        if (connection !== undefined) {
          connection.closed(end)
          this.#leaving.delete(connection)
        } else if (this.#dialling.delete(wire)) this.#failed(end.error)
        slots.closed(end)
      },
    })
    this.#dialling.add(wire)
  }

  #connectionOn(wire: Wire): PipelinedConnection {
    const { loop, requestTimeoutMs, watch, kind, life } = this.#plan
    return new PipelinedConnection({ wire, loop, requestTimeoutMs, watch, kind, life, owner: this })
  }

  #failed(error: Error | undefined): void {
    const reason = error === undefined ? 'the connection closed before it was made' : describeError(error)
    this.#waiting.shift()?.breakOff({ reason })
    this.#dial()
  }
}

const closedReason = 'the sender has been closed'
