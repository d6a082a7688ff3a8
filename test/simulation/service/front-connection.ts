import type { SimulatedSocket } from '../network/simulated-socket.js'
import type { QueuedEvent } from '../queued-event.js'
import type { World } from '../world.js'
import { type Bytes, type Reply, written } from './answer.js'
import type { Worker } from './backend.js'
import type { TakenRequest } from './journal.js'
import { RequestReader, type ServiceRequest } from './request-reader.js'

/** A request on its way to its answer. */
interface Turn {
  readonly request: ServiceRequest | undefined
  begun: boolean
  taken: TakenRequest | undefined
  reply: Reply | undefined
}

export interface FrontConnectionPlan {
  readonly world: World
  readonly socket: SimulatedSocket
  readonly worker: Worker
  readonly reached: (name: string) => void
}

/** Time for the client to close a connection that has ended here. */
const lingerMs = 5000

/** One connection to the service: reads requests, has them worked on, and writes the answers in order. */
export class FrontConnection {
  readonly #plan: FrontConnectionPlan
  readonly #reader: RequestReader
  readonly #turns: Turn[] = []
  #answered = 0
  /** No further answer is written. */
  #over = false
  /** Nothing that comes is read any more. */
  #deaf = false
  #drains = false
  #answeredEarly = false
  #idleFrom: number
  #timer: QueuedEvent | undefined

  constructor(plan: FrontConnectionPlan) {
    const { socket, world } = plan
    this.#plan = plan
    this.#reader = new RequestReader(socket.remotePort)
    this.#idleFrom = world.now
    socket.on('data', (bytes: Buffer) => this.#read(bytes))
    socket.on('end', () => {
      this.#over = true
      socket.end()
    })
    socket.on('error', () => this.#tellReset())
    socket.on('close', () => this.#closed())
    this.#watch(plan.worker.behaviour.idleMs)
  }

  /** Its backend goes away: close it as soon as it is idle, and say so in the last answer. */
  drain(): void {
    this.#drains = true
    if (this.#turns.length === 0 && !this.#reader.pending) this.#end()
  }

  reset(): void {
    this.#over = true
    this.#plan.socket.resetAndDestroy()
  }

  /** The service is well again: a connection whose next answer never comes is given up. */
  revive(): void {
    if (this.#turns[0]?.reply === 'hang') this.reset()
  }

  #read(bytes: Buffer): void {
    const { worker, world } = this.#plan
    const reader = this.#reader
    const runs = worker.behaviour.pipelined === 'side by side'
    // A backend that has left out bytes cannot read on.
    if (this.#over && !runs) this.#deaf = true
    if (this.#deaf) return
    try {
      reader.push(bytes)
      for (let request = reader.next(); request !== undefined; request = reader.next()) {
        if (this.#answeredEarly) this.#answeredEarly = false
        else this.#turns.push({ request, begun: false, taken: undefined, reply: undefined })
      }
    } catch (error) {
      world.fail(`the service: ${(error as Error).message}`)
      this.reset()
      return
    }
    if (reader.head !== undefined && !this.#answeredEarly && !this.#over) {
      const reply = worker.early(reader.head)
      this.#answeredEarly = reply !== undefined
      if (reply !== undefined) this.#turns.push({ request: undefined, begun: true, taken: undefined, reply })
    }
    this.#work()
  }

  /** Begin to work on requests, and write the answers that are there. */
  #work(): void {
    let text = ''
    let reset = false
    const turns = this.#turns
    const sideBySide = this.#plan.worker.behaviour.pipelined === 'side by side'
    if (sideBySide) for (const turn of turns) this.#begin(turn)
    while (!this.#over) {
      const first = turns[0]
      if (first === undefined) break
      if (!sideBySide) this.#begin(first)
      if (first.reply === undefined || first.reply === 'hang') break
      turns.shift()
      if (first.reply === 'reset') {
        this.#over = true
        reset = true
      } else if ('bytes' in first.reply) {
        text += first.reply.bytes
        this.#over = first.reply.end !== undefined
        reset = first.reply.end === 'reset'
      } else {
        const answer = this.#answer(first.reply)
        text += first.reply.twice === true ? answer + answer : answer
      }
    }
    const { socket } = this.#plan
    if (text !== '' && socket.writable) socket.write(text, 'latin1')
    if (reset) socket.resetAndDestroy()
    else if (this.#over) this.#end()
    else if (turns.length === 0) this.#idleFrom = this.#plan.world.now
  }

  #begin(turn: Turn): void {
    if (turn.begun) return
    turn.begun = true
    let later = false
    turn.taken = this.#plan.worker.work(turn.request!, (reply) => {
      turn.reply = reply
      if (later) this.#work()
    })
    later = true
  }

  #answer(reply: Exclude<Reply, string | Bytes>): string {
    const { requestsPerConnection, announcesClose, announcesIdle, idleMs } = this.#plan.worker.behaviour
    this.#answered++
    const last = this.#drains || this.#answered >= requestsPerConnection
    this.#over = last || reply.form === '1.0'
    const closes = last && (this.#drains || announcesClose === 'close')
    const words = []
    if (announcesIdle) words.push(`timeout=${Math.floor(idleMs / 1000)}`)
    if (announcesClose === 'max') words.push(`max=${requestsPerConnection - this.#answered}`)
    if (last) this.#plan.reached(`service: close ${closes ? 'with' : 'without'} a word`)
    return written(reply, { closes, keepAlive: words.length === 0 || closes ? undefined : words.join(', ') })
  }

  #end(): void {
    this.#over = true
    const { socket, worker } = this.#plan
    if (worker.behaviour.closesWith === 'reset') socket.destroySoon()
    else if (!socket.writableEnded) {
      socket.end()
      this.#plan.world.schedule(() => socket.destroy(), lingerMs)
    }
  }

  #tellReset(): void {
    const turns = this.#turns
    const phase = turns.some(({ taken }) => taken?.committed === true)
      ? 'after commit'
      : turns.length > 0
        ? 'in work'
        : this.#reader.pending
          ? 'in a request'
          : this.#answered > 0
            ? 'after an answer'
            : 'before a request'
    this.#plan.reached(`network: reset ${phase}`)
  }

  #closed(): void {
    this.#over = true
    this.#turns.length = 0
    if (this.#timer !== undefined) this.#timer.cancelled = true
  }

  #watch(ms: number): void {
    this.#timer = this.#plan.world.schedule(() => {
      if (this.#over) return
      const { world, worker, socket } = this.#plan
      const left =
        this.#turns.length > 0 ? worker.behaviour.idleMs : this.#idleFrom + worker.behaviour.idleMs - world.now
      if (left > 0) {
        this.#watch(left)
        return
      }
      this.#deaf = true
      this.#plan.reached(`service: idle close${worker.behaviour.goodbye ? ' with 408' : ''}`)
      if (worker.behaviour.goodbye) {
        socket.write('HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n', 'latin1')
      }
      this.#end()
    }, ms)
  }
}
