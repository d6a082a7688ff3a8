import type { Listener, SimulatedNetwork } from '../network/simulated-network.js'
import type { SimulatedSocket } from '../network/simulated-socket.js'
import type { World } from '../world.js'
import { Backend, type Worker } from './backend.js'
import { type Behaviour, fineBehaviour } from './behaviour.js'
import { FrontConnection } from './front-connection.js'
import { Journal } from './journal.js'
import { RepeatingProxy } from './repeating-proxy.js'
import type { Tenant } from './shared-receiver.js'

export interface ServiceOptions {
  /** Host and port. @default 'service.test:80' */
  readonly authority?: string
  /** Versions of the service behind the balancer. @default 1 */
  readonly backends?: number
  /** A proxy before the backends, which repeats requests. @default false */
  readonly proxy?: boolean
  /** The balancer's way when no backend is there: it refuses connections, or answers 503 itself. @default 'refuses' */
  readonly whenEmpty?: 'refuses' | '503'
  /** The key that it takes. @default any */
  readonly apiKey?: string
  /** Serves the backends whose behaviour is `receiver`. @default none */
  readonly receiver?: Tenant
  /** Called with the name of each thing that happened, for the report of what was reached. @default nothing */
  readonly reached?: (name: string) => void
}

export interface Deploy {
  /** `graceful`: connections end when they are idle, with a word; `abrupt`: they are reset, and what was worked on is lost. */
  readonly how: 'graceful' | 'abrupt'
  readonly awayMs: number
}

/** Time that a backend has for its connections to end. */
const drainMs = 2000

interface Connection {
  /** End it as soon as it is idle. */
  drain(): void
  reset(): void
  /** End it if one of its requests is never answered. */
  revive(): void
}

interface Place {
  readonly backend: Backend
  readonly connections: Set<Connection>
  there: boolean
}

/** The service at one origin: a balancer that gives each connection to one of its backends. */
export class SimulatedService {
  readonly journal: Journal
  /** Their behaviours are mutable. */
  readonly backends: readonly Backend[]
  /** Undefined without one. Its behaviour is mutable. */
  readonly proxy: RepeatingProxy | undefined
  readonly url: string
  readonly #world: World
  readonly #options: ServiceOptions
  readonly #places: readonly Place[]
  readonly #listener: Listener
  readonly #random: () => number
  readonly #reached: (name: string) => void

  constructor(world: World, network: SimulatedNetwork, options: ServiceOptions = {}) {
    const { authority = 'service.test:80', backends = 1, proxy = false, apiKey, receiver, reached = () => {} } = options
    this.#world = world
    this.#options = options
    this.#reached = reached
    this.#random = world.random('balancer')
    this.url = `http://${authority}`
    this.journal = new Journal(world)
    receiver?.record(this.journal, 0)
    const { journal } = this
    this.backends = Array.from(
      { length: backends },
      (_, number) => new Backend({ world, number, journal, apiKey, reached }),
    )
    this.#places = this.backends.map((backend) => ({ backend, connections: new Set(), there: true }))
    const there = () => this.#there.map(({ backend }) => backend)
    this.proxy = proxy ? new RepeatingProxy({ world, backends: there, reached }) : undefined
    this.#listener = network.listen(authority, (socket) => this.#accept(socket))
  }

  /** Change the behaviour of every backend. */
  behave(changes: Partial<Behaviour>): void {
    for (const backend of this.backends) backend.behaviour = { ...backend.behaviour, ...changes }
  }

  /** A backend goes away, and comes back as a new one. */
  deploy(number: number, { how, awayMs }: Deploy): void {
    const place = this.#places[number]
    if (place === undefined || !place.there) return
    this.#reached(`service: ${how} deploy`)
    this.#world.note(`backend ${number}: ${how} deploy`)
    place.there = false
    this.#listen()
    if (how === 'abrupt') this.#stop(place)
    else {
      for (const connection of place.connections) connection.drain()
      this.#world.schedule(() => {
        if (!place.there) this.#stop(place)
      }, drainMs)
    }
    this.#world.schedule(() => this.#comeBack(place), (how === 'abrupt' ? 0 : drainMs) + awayMs)
  }

  /** All backends are there and behave well. Those of the receiver stay the receiver's. */
  heal(): void {
    for (const place of this.#places) {
      place.backend.behaviour = { ...fineBehaviour, receiver: place.backend.behaviour.receiver }
      for (const connection of place.connections) connection.revive()
      this.#comeBack(place)
    }
    if (this.proxy !== undefined) {
      this.proxy.behaviour = fineBehaviour
      this.proxy.breaks = 0
    }
  }

  /** The records that the receiver has stored are those that the journal says. Adds a violation where they are not. */
  async verifyReceiver(): Promise<void> {
    const { receiver } = this.#options
    if (receiver === undefined) return
    const counts = new Map<string, number>()
    for (const recordId of await receiver.stored()) counts.set(recordId, (counts.get(recordId) ?? 0) + 1)
    const places = new Set([...counts.keys(), ...this.journal.stored.keys()])
    for (const recordId of places) {
      const said = this.journal.stored.get(recordId)?.length ?? 0
      const found = counts.get(recordId) ?? 0
      if (said !== found)
        this.#world.fail(`the receiver has ${recordId} ${found} times, and committed it ${said} times`)
    }
  }

  /** Numbers of requests. */
  get requests(): Journal['counts'] {
    return this.journal.counts
  }

  /** Every request that a backend has taken. */
  get log(): Journal['log'] {
    return this.journal.log
  }

  /** Times of the world at which each record was stored. */
  get stored(): ReadonlyMap<string, readonly number[]> {
    return this.journal.stored
  }

  /** The ids of the stored records of each kind, in the order of their storing. */
  get order(): Journal['order'] {
    return this.journal.order
  }

  get #there(): Place[] {
    return this.#places.filter(({ there }) => there)
  }

  #listen(): void {
    const { whenEmpty = 'refuses' } = this.#options
    this.#listener.refuses = whenEmpty === 'refuses' && this.#there.length === 0
  }

  #stop(place: Place): void {
    place.backend.crash()
    for (const connection of [...place.connections]) connection.reset()
  }

  #comeBack(place: Place): void {
    place.there = true
    this.#listen()
  }

  #accept(socket: SimulatedSocket): void {
    const there = this.#there
    const place = there[Math.floor(this.#random() * there.length)]
    const world = this.#world
    const reached = this.#reached
    if (this.proxy !== undefined) new FrontConnection({ world, socket, worker: this.proxy, reached })
    else if (place === undefined) new FrontConnection({ world, socket, worker: away, reached })
    else if (place.backend.behaviour.receiver && this.#options.receiver !== undefined) this.#handOver(socket, place)
    else {
      const connection = new FrontConnection({ world, socket, worker: place.backend, reached })
      this.#keep(socket, { place, connection })
    }
  }

  /** Node's own HTTP server reads this connection. */
  #handOver(socket: SimulatedSocket, place: Place): void {
    const reset = () => void socket.resetAndDestroy()
    this.#keep(socket, { place, connection: { drain: () => {}, reset, revive: () => {} } })
    this.#options.receiver?.accept(socket)
  }

  #keep(socket: SimulatedSocket, { place, connection }: { place: Place; connection: Connection }) {
    place.connections.add(connection)
    socket.once('close', () => place.connections.delete(connection))
  }
}

/** The balancer itself, as HAProxy answers without a server. */
const away: Worker = {
  behaviour: { ...fineBehaviour, form: '1.0', requestsPerConnection: 1, announcesClose: 'close' },
  work: (_request, reply) => {
    reply({ status: 503, form: '1.0', body: '<h1>503</h1>', contentType: 'text/html', echoedKey: undefined })
    return undefined
  },
  early: () => undefined,
}
