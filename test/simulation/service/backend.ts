import { between } from '../network/conditions.js'
import type { World } from '../world.js'
import { accepted, notBefore, type Reply, troubled } from './answer.js'
import { type Behaviour, fineBehaviour, type Trouble } from './behaviour.js'
import type { Journal, TakenRequest } from './journal.js'
import type { RequestHead, ServiceRequest } from './request-reader.js'

/** Serves requests: a backend, or a proxy before several. */
export interface Worker {
  readonly behaviour: Behaviour
  /** `reply` is called once at most. */
  work(request: ServiceRequest, reply: (reply: Reply) => void): TakenRequest | undefined
  /** The reply to a request whose body has not come. Undefined when the body is needed. */
  early(head: RequestHead): Reply | undefined
}

export interface BackendPlan {
  readonly world: World
  readonly number: number
  readonly journal: Journal
  /** The key that it takes; any when undefined. */
  readonly apiKey: string | undefined
  readonly reached: (name: string) => void
}

/** One version of the service behind the balancer. */
export class Backend implements Worker {
  behaviour: Behaviour = fineBehaviour
  readonly number: number
  readonly #plan: BackendPlan
  readonly #random: () => number
  /** Requests that it works on. */
  readonly #open = new Set<{ readonly reply: (reply: Reply) => void }>()

  constructor(plan: BackendPlan) {
    this.#plan = plan
    this.number = plan.number
    this.#random = plan.world.random(`backend ${plan.number}`)
  }

  work(request: ServiceRequest, reply: (reply: Reply) => void): TakenRequest {
    const { world, journal } = this.#plan
    const { behaviour } = this
    const taken = journal.take(request, this.number)
    const trouble = this.#troubleWith(request)
    const commit = () => {
      if (trouble === undefined || stores(trouble)) journal.store(taken, behaviour)
    }
    const answer = () => reply(this.#replyTo(taken, { trouble, behaviour }))
    const [, most] = behaviour.workMs
    if (most === 0) {
      commit()
      answer()
      return taken
    }
    const ms = between(behaviour.workMs, this.#random())
    const open = { reply }
    this.#open.add(open)
    world.schedule(() => {
      if (!this.#open.has(open)) return
      commit()
      world.schedule(() => {
        if (this.#open.delete(open)) answer()
      }, ms / 2)
    }, ms / 2)
    return taken
  }

  early(head: RequestHead): Reply | undefined {
    const { behaviour } = this
    const trouble = this.#wrongKey(head) ?? (behaviour.troubleChance === 1 ? behaviour.trouble : undefined)
    if (!behaviour.answersEarly || trouble?.type !== 'status' || trouble.when === 'after commit') return undefined
    this.#plan.reached('service: early answer')
    const taken = this.#plan.journal.take({ ...head, recordId: '' }, this.number)
    return this.#replyTo(taken, { trouble, behaviour })
  }

  /** It stops at once: its requests are not answered, and those that are not stored never are. */
  crash(): void {
    const open = [...this.#open]
    this.#open.clear()
    for (const { reply } of open) reply('reset')
  }

  #replyTo(taken: TakenRequest, how: { trouble: Trouble | undefined; behaviour: Behaviour }): Reply {
    const { world, journal, reached } = this.#plan
    const { trouble, behaviour } = how
    const echoedKey = behaviour.echoesKeys ? taken.idempotencyKey : undefined
    if (trouble === undefined) {
      const answer = accepted(behaviour, echoedKey)
      journal.answer(taken, answer.status)
      return answer
    }
    reached(`service: ${nameOf(trouble)}`)
    if (trouble.type === 'status' && trouble.retryAfter !== undefined) {
      taken.notBefore = notBefore(trouble.retryAfter, world.now)
    }
    const reply = troubled(trouble, { form: behaviour.form, echoedKey, now: world.now })
    if (typeof reply === 'object' && 'status' in reply) journal.answer(taken, reply.status)
    // The client may have read that it is taken.
    else if (trouble.type === 'cut answer' && trouble.in === 'body') journal.answer(taken, 201)
    return reply
  }

  #troubleWith(request: ServiceRequest): Trouble | undefined {
    const { trouble, troubleChance, poison } = this.behaviour
    const own = this.#wrongKey(request) ?? poison(request)
    if (own !== undefined || trouble === undefined) return own
    return troubleChance >= 1 || this.#random() < troubleChance ? trouble : undefined
  }

  #wrongKey({ apiKey }: RequestHead): Trouble | undefined {
    return this.#plan.apiKey === undefined || apiKey === this.#plan.apiKey ? undefined : { type: 'status', status: 401 }
  }
}

function stores(trouble: Trouble): boolean {
  return 'when' in trouble && trouble.when === 'after commit'
}

function nameOf(trouble: Trouble): string {
  const after = stores(trouble) ? ' after commit' : ''
  if (trouble.type !== 'status') return `${trouble.type}${after}`
  const { retryAfter } = trouble
  return `${trouble.status}${retryAfter === undefined ? '' : ` with Retry-After in ${retryAfter.as}`}${after}`
}
