import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import { systemClock, type Timer } from '../runtime/clock.js'
import type { Loop } from '../runtime/loop.js'
import { ownThreadEnvironment } from '../runtime/own-thread.js'
import { type Destination, type Route, routeTo } from './route.js'
import {
  type SocketCommand,
  type SocketEvent,
  type SocketFailure,
  type SocketThreadPlan,
  socketThread,
} from './socket-thread.js'
import type { Dial, Wire, WireEvents } from './wire.js'

/**
 * A loop for a thread that may not return to that of Node, because its process is ending. No promise, stream or timer of Node goes on here.
 *
 *     this thread: PipelinedSender ─ Wire ─ commands → │ socket thread: sockets
 *     turn: tasks, messages, timers          ← events ─┘
 */
export interface ExitLoop extends Loop {
  connect(destination: Destination): Dial
  /** Wait for the next timer or message, for `waitMs` at most, and run what is due. */
  turn(waitMs: number): void
  /** End the thread and its sockets. */
  close(): void
}

/** A thread starts within some tens of milliseconds. One that takes longer than this does not start. */
const startPatienceMs = 4000

/** Undefined when no thread starts within `withinMs`. */
export function startExitLoop(withinMs: number): ExitLoop | undefined {
  try {
    const loop = new ThreadLoop()
    if (loop.started(Math.min(withinMs, startPatienceMs))) return loop
    loop.close()
  } catch {
    // Threads are not allowed here.
  }
  return undefined
}

interface Waiting {
  /** On the clock. */
  readonly at: number
  readonly task: () => void
}

class ThreadLoop implements ExitLoop {
  readonly now = systemClock.now
  readonly #worker: Worker
  readonly #port: MessagePort
  readonly #signal = new Int32Array(new SharedArrayBuffer(4))
  #seen = 0
  readonly #soon: (() => void)[] = []
  #immediate: (() => void)[] = []
  readonly #timers = new Map<Timer, Waiting>()
  /** They go out in one message before this thread waits. */
  readonly #commands: SocketCommand[] = []
  readonly #wires = new Map<number, WireEvents>()
  #lastWire = 0

  constructor() {
    const { port1, port2 } = new MessageChannel()
    const workerData: SocketThreadPlan = { port: port2, signal: this.#signal.buffer }
    this.#port = port1
    this.#worker = new Worker(`(${socketThread.toString()})()`, {
      eval: true,
      name: 'sluice-last-drain',
      workerData,
      transferList: [port2],
      execArgv: [],
      env: ownThreadEnvironment(),
    })
    this.#worker.on('error', () => {})
  }

  started(withinMs: number): boolean {
    Atomics.wait(this.#signal, 0, 0, withinMs)
    this.#seen = Atomics.load(this.#signal, 0)
    return this.#seen > 0
  }

  schedule(task: () => void, delayMs: number): Timer {
    const timer = { cancel: () => void this.#timers.delete(timer) }
    this.#timers.set(timer, { at: this.now() + delayMs, task })
    return timer
  }

  soon(task: () => void): void {
    this.#soon.push(task)
  }

  immediate(task: () => void): void {
    this.#immediate.push(task)
  }

  connect(destination: Destination): Dial {
    const route = routeTo(destination)
    return (events) => this.#open(route, events)
  }

  turn(waitMs: number): void {
    this.#runSoon()
    const immediate = this.#immediate
    this.#immediate = []
    for (let left = this.#wait(immediate.length > 0 ? 0 : waitMs); left > 0; left--) {
      const got = receiveMessageOnPort(this.#port)
      for (const event of (got?.message ?? []) as readonly SocketEvent[]) {
        this.#hand(event)
        this.#runSoon()
      }
    }
    for (const timer of this.#due()) {
      const task = this.#timers.get(timer)?.task
      // One that ran before it may have cancelled it.
      if (task === undefined) continue
      this.#timers.delete(timer)
      task()
      this.#runSoon()
    }
    for (const task of immediate) {
      task()
      this.#runSoon()
    }
  }

  close(): void {
    this.#port.close()
    void this.#worker.terminate()
  }

  /** Returns how many messages have come. What comes later waits for the next turn, so that no server keeps this one busy. */
  #wait(waitMs: number): number {
    const next = Math.min(...Array.from(this.#timers.values(), ({ at }) => at))
    if (this.#commands.length > 0) this.#port.postMessage(this.#commands.splice(0))
    const before = this.#seen
    Atomics.wait(this.#signal, 0, before, Math.max(0, Math.min(waitMs, next - this.now())))
    this.#seen = Atomics.load(this.#signal, 0)
    return this.#seen - before
  }

  #due(): readonly Timer[] {
    const now = this.now()
    const due = [...this.#timers].filter(([, { at }]) => at <= now)
    return due.sort(([, one], [, other]) => one.at - other.at).map(([timer]) => timer)
  }

  #runSoon(): void {
    for (let task = this.#soon.shift(); task !== undefined; task = this.#soon.shift()) task()
  }

  #open(route: Route, events: WireEvents): Wire {
    const id = ++this.#lastWire
    this.#wires.set(id, events)
    const commands = this.#commands
    commands.push({ id, type: 'open', route })
    const crossing = new Crossing()
    return {
      write: (bytes) => {
        commands.push({ id, type: 'write', memory: crossing.take(bytes), length: bytes.length })
        this.soon(events.flushed)
      },
      end: () => void commands.push({ id, type: 'end' }),
      destroy: () => void commands.push({ id, type: 'destroy' }),
    }
  }

  #hand(event: SocketEvent): void {
    const events = this.#wires.get(event.id)
    if (events === undefined) return
    if (event.type === 'received') {
      const { buffer, byteOffset, byteLength } = event.bytes
      events.received(Buffer.from(buffer, byteOffset, byteLength))
    } else if (event.type === 'closed') {
      this.#wires.delete(event.id)
      events.closed({ error: event.failure && errorOf(event.failure), serverKnows: event.serverKnows })
    } else events[event.type]()
  }
}

/** Memory between the threads. It serves again as soon as the other thread has let go of it, which its first word says. */
class Crossing {
  #inUse = new Int32Array(new SharedArrayBuffer(4))

  /** The bytes behind the first word. */
  take(bytes: Uint8Array): SharedArrayBuffer {
    const { byteLength } = this.#inUse.buffer
    const room = 4 + bytes.length
    if (Atomics.load(this.#inUse, 0) === 1) this.#open(Math.max(room, byteLength))
    else if (room > byteLength) this.#open(2 * room)
    Atomics.store(this.#inUse, 0, 1)
    const memory = this.#inUse.buffer
    new Uint8Array(memory, 4).set(bytes)
    return memory
  }

  #open(bytes: number): void {
    this.#inUse = new Int32Array(new SharedArrayBuffer(bytes), 0, 1)
  }
}

function errorOf({ message, code, reason }: SocketFailure): Error {
  return Object.assign(new Error(message), { code, reason })
}
