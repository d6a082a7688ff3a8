import type { SimulatedThread } from '../simulated-thread.js'
import type { World } from '../world.js'
import { ByteStream, type Terms } from './byte-stream.js'
import { type Conditions, type Fate, fineConditions } from './conditions.js'
import type { SimulatedSocket } from './simulated-socket.js'

export interface ConnectionPlan {
  readonly world: World
  readonly name: string
  readonly conditions: Conditions
  readonly fate: Fate
  readonly random: () => number
  readonly client: SimulatedSocket
  readonly server: SimulatedSocket
  readonly reached: (name: string) => void
}

/** A connection between two sockets, with what happens to it on the way. */
export class Connection {
  readonly client: SimulatedSocket
  readonly server: SimulatedSocket
  readonly toServer: ByteStream
  readonly toClient: ByteStream
  readonly #plan: ConnectionPlan
  readonly #terms: Terms

  constructor(plan: ConnectionPlan) {
    const { world, random, client, server, fate, conditions } = plan
    const { jitterMs, bytesPerMs, segmentBytes, bufferBytes } = conditions
    this.#plan = plan
    this.client = client
    this.server = server
    this.#terms = { latencyMs: fate.latencyMs, jitterMs, bytesPerMs, segmentBytes, bufferBytes }
    const common = { world, random, terms: this.#terms }
    this.toServer = new ByteStream({
      ...common,
      reader: server,
      writer: client.thread,
      unwanted: () => this.toClient.finish('reset'),
    })
    this.toClient = new ByteStream({
      ...common,
      reader: client,
      writer: server.thread,
      unwanted: () => this.toServer.finish('reset'),
    })
    this.#prepareCut()
  }

  /** The client hears nothing before it is connected. */
  get latencyMs(): number {
    return this.#terms.latencyMs
  }

  /** Nothing arrives any more, in both directions. */
  silence(): void {
    if (this.toServer.silent) return
    this.toServer.silence()
    this.toClient.silence()
  }

  /** Both sides get RST after the latency. */
  reset(): void {
    this.toServer.impose('reset')
    this.toClient.impose('reset')
  }

  /** All is well from now on; what was silent is reset. */
  heal(): void {
    const { jitterMs, bytesPerMs, segmentBytes, bufferBytes } = fineConditions
    Object.assign(this.#terms, { jitterMs, bytesPerMs, segmentBytes, bufferBytes })
    this.#terms.latencyMs = Math.min(this.#terms.latencyMs, fineConditions.latencyMs[1])
    for (const stream of [this.toServer, this.toClient]) {
      stream.mend()
      if (stream.silent) stream.breakSilence()
    }
  }

  #prepareCut(): void {
    const { cut } = this.#plan.fate
    if (cut === undefined) return
    const { how, towards, afterBytes } = cut
    const [there, back] = towards === 'server' ? [this.toServer, this.toClient] : [this.toClient, this.toServer]
    there.cutAfter(afterBytes, () => {
      this.#plan.world.note(`${this.#plan.name}: ${how} towards the ${towards}`)
      this.#plan.reached(`network: ${how} towards ${towards}`)
      if (how === 'black hole') this.silence()
      else if (how === 'reset') this.reset()
      else {
        there.impose('end')
        back.impose('end')
      }
    })
  }

  /** The sockets that a thread has here. */
  socketsOf(thread: SimulatedThread): SimulatedSocket[] {
    return [this.client, this.server].filter((socket) => socket.thread === thread)
  }
}
