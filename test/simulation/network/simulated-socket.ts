import { Duplex } from 'node:stream'
import type { QueuedEvent } from '../queued-event.js'
import type { SimulatedThread } from '../simulated-thread.js'
import type { World } from '../world.js'
import type { ByteStream, Reader } from './byte-stream.js'
import { systemError } from './errors.js'

export interface SocketPlan {
  readonly world: World
  /** The thread whose code uses the socket; undefined for a part of the world. */
  readonly thread: SimulatedThread | undefined
  readonly side: 'client' | 'server'
  /** Is true for one reset in so many, chosen when it is made. */
  readonly resetOvertakes: () => boolean
  /** Called when the system has closed it. */
  readonly closed: (socket: SimulatedSocket) => void
}

/** The two directions of a connection, as one side sees them. */
export interface Wires {
  readonly incoming: ByteStream
  readonly outgoing: ByteStream
}

type Done = (error?: Error | null) => void

/** A socket of the simulated network, with those parts of `net.Socket` that undici, `http.Server` and the senders use. */
export class SimulatedSocket extends Duplex implements Reader {
  readonly thread: SimulatedThread | undefined
  connecting: boolean
  readonly encrypted = false
  readonly remoteAddress = '10.0.0.1'
  readonly remoteFamily = 'IPv4'
  remotePort = 0
  readonly localAddress = '10.0.0.1'
  localPort = 0
  bytesRead = 0
  bytesWritten = 0
  timeout = 0
  /** True while it holds the process. */
  holds = true
  readonly #plan: SocketPlan
  #wires: Wires | undefined
  #whenConnected: (() => void)[] = []
  /** The system has closed it, or its process is gone. */
  #closed = false
  #dead = false
  #activeAt = 0
  #timer: QueuedEvent | undefined

  constructor(plan: SocketPlan) {
    // As net.connect and http.Server do it.
    super({ allowHalfOpen: plan.side === 'server', highWaterMark: 65_536 })
    this.#plan = plan
    this.thread = plan.thread
    this.connecting = plan.side === 'client'
  }

  get pending(): boolean {
    return this.connecting
  }

  get readyState(): string {
    if (this.connecting) return 'opening'
    if (this.readable && this.writable) return 'open'
    return this.readable ? 'readOnly' : this.writable ? 'writeOnly' : 'closed'
  }

  address(): object {
    return { address: this.localAddress, family: 'IPv4', port: this.localPort }
  }

  ref(): this {
    this.holds = true
    return this
  }

  unref(): this {
    this.holds = false
    return this
  }

  setNoDelay(): this {
    return this
  }

  setKeepAlive(): this {
    return this
  }

  setTimeout(ms: number, task?: () => void): this {
    this.timeout = ms
    if (this.#timer !== undefined) this.#timer.cancelled = true
    this.#timer = undefined
    if (ms > 0) {
      if (task !== undefined) this.once('timeout', task)
      this.#activeAt = this.#now
      this.#watch(ms)
    } else if (task !== undefined) this.removeListener('timeout', task)
    return this
  }

  /** Close with RST. */
  resetAndDestroy(): this {
    this.#close({ reset: true })
    return this.destroy()
  }

  destroySoon(): void {
    if (this.writable) this.end()
    if (this.writableFinished) this.destroy()
    else this.once('finish', () => this.destroy())
  }

  /** Called by the network: the system makes the connection. */
  wire(wires: Wires): void {
    this.#wires = wires
  }

  /** Called by the network: the client's system has made it. */
  connected(): void {
    if (this.destroyed || !this.connecting) return
    this.connecting = false
    for (const task of this.#whenConnected.splice(0)) task()
    this.emit('connect')
    this.emit('ready')
  }

  /** Called by the network: the process is gone, and the system closes its sockets. */
  die(): void {
    this.#close()
    this.#dead = true
  }

  takeBytes(bytes: Buffer): boolean {
    this.bytesRead += bytes.length
    this.#activeAt = this.#now
    return this.push(bytes)
  }

  takeEnd(): void {
    this.push(null)
    // Without a reader that waits, the end is noticed all the same.
    if (this.readableLength === 0) this.read(0)
  }

  takeReset(): void {
    this.destroy(systemError('ECONNRESET', { syscall: 'read' }))
  }

  override _read(): void {
    this.#wires?.incoming.resume()
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: Done): void {
    if (this.connecting) this.#whenConnected.push(() => this.#send(bytes, done))
    else this.#send(bytes, done)
  }

  override _writev(pieces: { chunk: Buffer }[], done: Done): void {
    this._write(Buffer.concat(pieces.map(({ chunk }) => chunk)), 'binary', done)
  }

  override _final(done: Done): void {
    if (this.connecting) {
      this.#whenConnected.push(() => this._final(done))
      return
    }
    if (!this.#closed) this.#wires?.outgoing.finish('end')
    done()
  }

  override _destroy(error: Error | null, done: Done): void {
    this.connecting = false
    this.setTimeout(0)
    this.#close()
    done(error)
  }

  get #now(): number {
    return this.thread?.clock.now() ?? this.#plan.world.now
  }

  #send(bytes: Buffer, done: Done): void {
    if (this.#closed) return
    this.bytesWritten += bytes.length
    this.#activeAt = this.#now
    this.#wires?.outgoing.write(bytes, () => {
      if (!this.#dead) done()
    })
  }

  /** As the system does it: a socket with bytes that were not read is closed with RST. */
  #close({ reset = false } = {}): void {
    if (this.#closed) return
    this.#closed = true
    this.#plan.closed(this)
    const wires = this.#wires
    if (wires === undefined) return
    const unread = wires.incoming.abandon()
    if (reset || unread) wires.outgoing.finish('reset', { overtakes: this.#plan.resetOvertakes() })
    else wires.outgoing.finish('end')
  }

  #watch(ms: number): void {
    this.#timer = this.#plan.world.schedule(
      () => {
        this.#timer = undefined
        const left = this.#activeAt + this.timeout - this.#now
        if (left > 0) this.#watch(left)
        else this.emit('timeout')
      },
      ms,
      this.thread,
    )
  }
}
