import type { World } from '../world.js'
import type { Reply } from './answer.js'
import type { Backend, Worker } from './backend.js'
import { type Behaviour, fineBehaviour } from './behaviour.js'
import type { ServiceRequest } from './request-reader.js'

export interface ProxyPlan {
  readonly world: World
  /** Those that are there. */
  readonly backends: () => readonly Backend[]
  readonly reached: (name: string) => void
}

/**
 * A proxy before the backends that repeats a request at the next one when the connection to a backend breaks or it does not answer, like
 * nginx with `proxy_next_upstream`. The service sees such a request twice, the client once.
 */
export class RepeatingProxy implements Worker {
  /** About its connections; the rest is the backends' own. */
  behaviour: Behaviour = fineBehaviour
  /** Chance that the connection to a backend breaks, before the request or before the answer. */
  breaks = 0
  /** Time for an answer of a backend. */
  patienceMs = 5000
  readonly #plan: ProxyPlan
  readonly #random: () => number
  #next = 0

  constructor(plan: ProxyPlan) {
    this.#plan = plan
    this.#random = plan.world.random('proxy')
  }

  work(request: ServiceRequest, reply: (reply: Reply) => void): undefined {
    this.#attempt({ request, reply, left: this.#plan.backends().length })
  }

  early(): undefined {
    return undefined
  }

  #attempt(task: { request: ServiceRequest; reply: (reply: Reply) => void; left: number }): void {
    const { world, backends, reached } = this.#plan
    const { request, reply, left } = task
    const there = backends()
    const backend = there[this.#next++ % there.length]
    if (backend === undefined || left <= 0) {
      reached('proxy: 502')
      reply({
        status: 502,
        form: 'length',
        body: '<h1>Bad Gateway</h1>',
        contentType: 'text/html',
        echoedKey: undefined,
      })
      return
    }
    let waits = true
    const again = (name: string) => {
      if (!waits) return
      waits = false
      timer.cancelled = true
      reached(`proxy: repeated after ${name}`)
      this.#attempt({ request, reply, left: left - 1 })
    }
    const timer = world.schedule(() => again('a time-out'), this.patienceMs)
    const drawn = this.#random() / (this.breaks || Number.MIN_VALUE)
    if (drawn < 0.5) {
      again('a break before the request')
      return
    }
    backend.work(request, (answer) => {
      if (!waits || answer === 'hang') return
      if (answer === 'reset') again('a reset')
      else if (drawn < 1) again('a break before the answer')
      else {
        waits = false
        timer.cancelled = true
        reply(answer)
      }
    })
  }
}
